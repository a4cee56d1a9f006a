using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Takes the app's connections and drives a session over each: one thread that reads, one that sends. Dropping what a dead app sent is
/// not allowed: its bytes are read to their end before the next session may begin.
/// </summary>
internal sealed class AppPump(Coordinator coordinator, Socket listener, Action<CancellationToken> waitForRoom, Action<int, string> fail, Action<string> say) : IDisposable
{
    private static readonly TimeSpan helloMax = TimeSpan.FromSeconds(5), handoverMax = TimeSpan.FromSeconds(2);

    /// <summary>Connections at once, the live session's among them; more are closed.</summary>
    private const int ConnectionsMax = 16;

    private readonly LineBudget lines = new(TimeProvider.System.TimestampFrequency, TimeProvider.System.GetTimestamp());
    private int connections;
    private volatile bool stopped;

    public void Start() => new Thread(AcceptLoop) { Name = "app-accept", IsBackground = true }.Start();

    private void AcceptLoop()
    {
        while (!stopped)
        {
            Socket socket;
            try
            {
                socket = listener.Accept();
            }
            catch (Exception e) when (stopped && e is SocketException or ObjectDisposedException)
            {
                return;
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.Interrupted)
            {
                continue; // a signal
            }
            catch (SocketException e)
            {
                say($"app channel: accepting failed: {e.Message}");
                continue;
            }
            if (WhatIsWrong(socket) is not { } wrong)
            {
                Interlocked.Increment(ref connections);
                new Thread(() => Serve(socket)) { Name = "app-in", IsBackground = true }.Start();
                continue;
            }
            socket.Dispose();
            Refused(wrong);
        }
    }

    private string? WhatIsWrong(Socket socket) =>
        PeerCredentials.WhatIsWrong(socket) ?? (Volatile.Read(ref connections) >= ConnectionsMax ? $"there are {ConnectionsMax} connections already" : null);

    /// <summary>One line about a connection that came to nothing, unless there have been too many of them.</summary>
    private void Refused(string why)
    {
        string? line;
        lock (lines) line = lines.Admit($"app channel: {why}", TimeProvider.System.GetTimestamp());
        if (line is not null) say(line);
    }

    private void Serve(Socket socket)
    {
        using Socket owned = socket;
        using var parker = new Parker();
        AppSession session = coordinator.NewSession(parker.Wake);
        using AppReader reader = session.NewReader();
        if (socket.AddressFamily == AddressFamily.InterNetwork) socket.NoDelay = true;
        var ended = new CancellationTokenSource();
        var sender = new Thread(() => SendLoop(socket, session, parker, ended.Token)) { Name = "app-out", IsBackground = true };
        sender.Start();
        string why = "closed";
        try
        {
            AwaitHandover();
            why = ReadLoop(socket, session, reader);
            if (!session.HasBegun) Refused(why);
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            fail(code, fatal.Message);
        }
        catch (ProtocolViolation violation)
        {
            why = $"the app broke the protocol: {violation.Message}";
            session.Send(new Goodbye(GoodbyeCode.ProtocolViolation, violation.Message));
            Refused(why);
        }
        catch (AppLeft left)
        {
            why = left.Message;
            if (left.Goodbye.Code != GoodbyeCode.CleanStop) Refused(why);
        }
        ended.Cancel();
        parker.Wake();
        sender.Join();
        session.End(why);
        Interlocked.Decrement(ref connections);
    }

    /// <summary>An app that comes while the dead one's bytes are still being read waits for them.</summary>
    private void AwaitHandover()
    {
        long begun = Environment.TickCount64;
        while (coordinator.Session is not null && Environment.TickCount64 - begun < handoverMax.TotalMilliseconds) Thread.Sleep(1);
    }

    private string ReadLoop(Socket socket, AppSession session, AppReader reader)
    {
        long begun = Environment.TickCount64;
        while (true)
        {
            // For the hello as a whole: a byte now and then does not keep a place among the few connections.
            int timeoutMs = session.HasBegun ? 0 : (int)Math.Max(1, helloMax.TotalMilliseconds - (Environment.TickCount64 - begun));
            if (socket.ReceiveTimeout != timeoutMs) socket.ReceiveTimeout = timeoutMs;
            int received = socket.Receive(reader.Space().Span, SocketFlags.None, out SocketError error);
            if (error == SocketError.TimedOut) return "no hello within 5 s (P2.4)";
            if (error != SocketError.Success || received == 0) return session.HasBegun ? "the app's connection ended" : "closed by the other side before its hello (P2.4)";
            ReadAnswer answer = reader.Received(received);
            while (answer != ReadAnswer.More)
            {
                waitForRoom(CancellationToken.None);
                answer = reader.Continue();
            }
        }
    }

    private void SendLoop(Socket socket, AppSession session, Parker parker, CancellationToken ended)
    {
        try
        {
            while (true)
            {
                if (session.TryTake(out ReadOnlyMemory<byte> bytes))
                {
                    for (int sent = 0; sent < bytes.Length;) sent += socket.Send(bytes.Span[sent..]);
                    session.Taken();
                }
                else if (ended.IsCancellationRequested) break;
                else parker.Park(() => session.HasOutput || ended.IsCancellationRequested, TimeSpan.FromSeconds(1));
            }
            socket.Shutdown(SocketShutdown.Both);
        }
        catch (SocketException)
        {
            // The app is gone: what it sent before is still to be read, so only this direction ends.
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            fail(code, fatal.Message);
        }
        catch (ProtocolViolation damage)
        {
            fail(ExitCodes.Damage, $"the log holds what it must not: {damage.Message}");
        }
    }

    public void Dispose()
    {
        stopped = true;
        listener.Dispose();
    }
}
