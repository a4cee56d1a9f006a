using System.Net;
using System.Net.Sockets;
using CRA.Links;

namespace CRA.Tests;

public sealed class LinkDiallerTests
{
    private static readonly LinkSettings s_hasty = LoopbackLinks.Settings with { AuthenticationMax = TimeSpan.FromMilliseconds(200) };

    private static Socket Listen(int backlog)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        if (backlog >= 0) socket.Listen(backlog);
        return socket;
    }

    [Fact]
    public void Dial_WithNobodyThere_IsUnreachable()
    {
        using Socket bound = Listen(backlog: -1); // the port is taken but not listened on
        Assert.Throws<LinkUnreachableException>(() => LinkDialler.Dial(bound.LocalEndPoint!.ToString()!, LoopbackLinks.Settings));
    }

    [Fact]
    public void Dial_OfOneThatNeverAnswers_TimesOut()
    {
        using Socket silent = Listen(backlog: 5);
        Assert.Throws<LinkUnreachableException>(() => LinkDialler.Dial(silent.LocalEndPoint!.ToString()!, s_hasty));
    }

    [Fact]
    public void Dial_OfOneThatDoesNotEvenConnect_TimesOut()
    {
        using Socket full = Listen(backlog: 0);
        var fill = new List<Socket>();
        for (int i = 0; i < 4; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { Blocking = false };
            fill.Add(socket);
            try
            {
                socket.Connect(full.LocalEndPoint!);
            }
            catch (SocketException)
            {
                // Under way.
            }
        }
        Assert.Throws<LinkUnreachableException>(() => LinkDialler.Dial(full.LocalEndPoint!.ToString()!, s_hasty));
        foreach (Socket socket in fill) socket.Dispose();
    }

    [Fact]
    public void Dial_OfOneThatCloses_IsUnreachable()
    {
        using Socket rude = Listen(backlog: 5);
        var closer = new Thread(() => rude.Accept().Dispose());
        closer.Start();
        Assert.Throws<LinkUnreachableException>(() => LinkDialler.Dial(rude.LocalEndPoint!.ToString()!, LoopbackLinks.Settings));
        closer.Join();
    }

    [Fact]
    public void Dial_Stopped_EndsAtOnce()
    {
        using Socket silent = Listen(backlog: 5);
        using var stop = new CancellationTokenSource();
        var stopper = new Thread(() =>
        {
            silent.Accept(); // now the dialler waits for the answer
            stop.Cancel();
        });
        stopper.Start();
        LinkSettings patient = LoopbackLinks.Settings with { AuthenticationMax = TimeSpan.FromHours(1) };
        Assert.Throws<OperationCanceledException>(() => LinkDialler.Dial(silent.LocalEndPoint!.ToString()!, patient, stop.Token));
        stopper.Join();
    }

    [Fact]
    public void Dial_OffLoopbackWithoutInsecure_IsRefused() =>
        Assert.Throws<LinkAddressException>(() => LinkDialler.Dial("192.0.2.1:4711", LoopbackLinks.Settings));
}
