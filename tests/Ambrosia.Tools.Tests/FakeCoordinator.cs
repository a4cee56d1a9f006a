using System.Net.Sockets;
using System.Text;
using System.Text.Json.Nodes;

namespace Ambrosia.Tools.Tests;

/// <summary>Answers on the admin socket of a replica as a test says: with anything, late, or not at all. It owns its thread.</summary>
internal sealed class FakeCoordinator : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    private readonly string _socket;
    private readonly Func<JsonObject, string?> _answer;

    /// <param name="answer">Returns all lines of an answer, or null to leave a request without one until the caller goes.</param>
    public FakeCoordinator(string log, string replica, Func<JsonObject, string?> answer)
    {
        _answer = answer;
        _socket = Path.Combine(Path.GetTempPath(), $"fc{Guid.NewGuid():N}.sock");
        _listener.Bind(new UnixDomainSocketEndPoint(_socket));
        _listener.Listen(16);
        File.WriteAllText(Path.Combine(log, $"admin.{replica}"),
            new JsonObject { ["socket"] = _socket, ["process"] = Environment.ProcessId }.ToJsonString());
        new Thread(Serve) { IsBackground = true, Name = "fake coordinator" }.Start();
    }

    private void Serve()
    {
        try
        {
            while (true)
            {
                using Socket caller = _listener.Accept();
                Serve(caller);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private void Serve(Socket caller)
    {
        byte[] request = new byte[1 << 16];
        int fill = 0;
        while (!request.AsSpan(0, fill).Contains((byte)'\n'))
        {
            int received = caller.Receive(request.AsSpan(fill));
            if (received == 0) return;
            fill += received;
        }
        if (_answer((JsonObject)JsonNode.Parse(request.AsSpan(0, fill))!) is not { } text)
        {
            while (caller.Receive(request) > 0)
            {
            }
            return;
        }
        try
        {
            byte[] bytes = Encoding.UTF8.GetBytes(text);
            for (int sent = 0; sent < bytes.Length;) sent += caller.Send(bytes.AsSpan(sent));
        }
        catch (SocketException)
        {
            // The caller has heard enough.
        }
    }

    public void Dispose()
    {
        _listener.Dispose();
        File.Delete(_socket);
    }
}
