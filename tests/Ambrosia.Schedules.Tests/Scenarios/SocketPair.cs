using System.Net.Sockets;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>Two connected sockets. In the copies they are the shim's, in memory.</summary>
internal sealed class SocketPair : IDisposable
{
    public SocketPair()
    {
        var at = new UnixDomainSocketEndPoint($"schedule-{Environment.CurrentManagedThreadId}");
        var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(at);
        listener.Listen();
        There = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        There.Connect(at);
        Here = listener.Accept();
        listener.Dispose();
    }

    public Socket Here { get; }

    public Socket There { get; }

    public void Dispose()
    {
        Here.Dispose();
        There.Dispose();
    }
}
