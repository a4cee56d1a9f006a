using System.Diagnostics;
using System.Net.Sockets;
using Ambrosia.AppChannel;
using Ambrosia.Pumps;

namespace Ambrosia.Binding.Tests;

/// <summary>An app whose coordinator is gone ends by itself if it can, and is ended if it cannot.</summary>
public sealed class OrphanWatchTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-orphan-");
    private readonly Socket _coordinator, _app;
    private int _ends;

    public OrphanWatchTests()
    {
        var address = new UnixDomainSocketEndPoint(Path.Combine(_folder.FullName, "app.sock"));
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(address);
        listener.Listen();
        _app = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        _app.Connect(address);
        _coordinator = listener.Accept();
    }

    public void Dispose()
    {
        _coordinator.Dispose();
        _app.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void Run_ChannelEndsAndTheHandlerDoesNot_EndsTheProcess()
    {
        OrphanWatch watch = NewWatch();
        watch.Turn(); // a handler runs
        _coordinator.Send(new byte[100]); // the end is seen although the handler has not received all
        _coordinator.Dispose();
        watch.Run();
        Assert.Equal(1, _ends);
    }

    [Fact]
    public void Run_SessionEndsInOrder_LeavesTheProcessToItself()
    {
        OrphanWatch watch = NewWatch();
        watch.End();
        _coordinator.Dispose();
        watch.Run();
        Assert.Equal(0, _ends);
    }

    [Theory]
    [InlineData(null, null)]
    [InlineData("", null)]
    [InlineData("1", null)]
    [InlineData("-7", null)]
    [InlineData("99999999999", null)]
    [InlineData("4711", 4711)]
    public void ParentOf_Text_IsAProcessOrNobody(string? text, int? parent) => Assert.Equal(parent, OrphanWatch.ParentOf(text));

    [Fact]
    public void IsGone_OfAProcessThatHasEnded_IsTrueWhetherOrNotSomebodyHasWaitedForIt()
    {
        if (!OperatingSystem.IsLinux()) return; // elsewhere nobody is said to be gone
        using var child = Process.Start(new ProcessStartInfo("cat") { RedirectStandardInput = true })!;
        Assert.False(OrphanWatch.IsGone(child.Id));
        child.Kill();
        Assert.True(SpinWait.SpinUntil(() => OrphanWatch.IsGone(child.Id), TimeSpan.FromSeconds(60)));
        child.WaitForExit();
        Assert.True(OrphanWatch.IsGone(child.Id));
    }

    private OrphanWatch NewWatch() => new(new SocketStream(_app), parent: null, () => _ends++);
}
