using System.Net;
using System.Net.Sockets;
using Ambrosia.Coordinator.Hosting;

namespace Ambrosia.Coordinator.Tests.Hosting;

/// <summary>A port that is opened while somebody looks at the past is named, once, and none that was open before.</summary>
public sealed class ListeningWatchTests
{
    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("::1")]
    public void Port_OpenedSinceTheWatchBegan_IsNamedOnce(string address)
    {
        if (!OperatingSystem.IsLinux()) return; // nothing tells whose sockets listen
        using var before = new TcpListener(IPAddress.Parse(address), 0);
        before.Start();
        var watch = new ListeningWatch(Environment.ProcessId);
        using var since = new TcpListener(IPAddress.Parse(address), 0);
        since.Start();

        string[] found = [.. watch.FindNew()];
        Assert.Contains(since.LocalEndpoint.ToString(), found);
        Assert.DoesNotContain(before.LocalEndpoint.ToString(), found);
        Assert.DoesNotContain(since.LocalEndpoint.ToString(), watch.FindNew());
    }

    /// <summary>A process is looked at between the two steps by which it opens a port.</summary>
    [Fact]
    public void Socket_ThatListensLater_IsNamedThen()
    {
        if (!OperatingSystem.IsLinux()) return; // nothing tells whose sockets listen
        var watch = new ListeningWatch(Environment.ProcessId);
        using var since = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        since.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        Assert.DoesNotContain(since.LocalEndPoint!.ToString(), watch.FindNew());
        since.Listen();
        Assert.Contains(since.LocalEndPoint!.ToString(), watch.FindNew());
    }

    [Fact]
    public void Ports_OfAProcessThatIsGone_AreNone() => Assert.Empty(new ListeningWatch(int.MaxValue).FindNew());
}
