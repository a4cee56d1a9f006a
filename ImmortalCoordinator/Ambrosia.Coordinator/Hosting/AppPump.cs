using System.Net;
using System.Net.Sockets;
using Ambrosia.AppChannel;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using CRA.Links;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Takes the app's connections and drives a session over each: one thread that reads, one that sends. Dropping what a dead app sent is
/// not allowed: its bytes are read to their end before the next session may begin.
/// </summary>
internal sealed class AppPump(
    Coordinator first, AppEndpoint endpoint, Action<CancellationToken> waitForRoom, Action<int, string> fail,
    ILogger logger, PumpProgress progress) : IDisposable
{
    private static readonly TimeSpan s_helloMax = TimeSpan.FromSeconds(5), s_handoverMax = TimeSpan.FromSeconds(2),
        s_readOn = TimeSpan.FromMilliseconds(5), s_readOnSoon = TimeSpan.FromMilliseconds(1);

    /// <summary>
    /// An app that broke the protocol reads its goodbye, and what stands before it, within this time; then its connection is shut.
    /// </summary>
    internal static readonly TimeSpan GoodbyeMax = TimeSpan.FromSeconds(2);

    /// <summary>At most so many connections have not sent a hello.</summary>
    private const int StrangersMax = 16;

    private readonly LogRateLimiter _lines = new(TimeProvider.System.TimestampFrequency, TimeProvider.System.GetTimestamp());
    private readonly RankedLock _gate = new(LockRank.AppPump);

    /// <summary>
    /// The connections whose app has not shown its token, oldest first: one too many closes the oldest, so that nobody keeps the app out.
    /// </summary>
    private readonly List<Socket> _strangers = [];
    private volatile bool _stopped;

    /// <summary>The replica whose sessions new connections are, and the place where their failures go.</summary>
    private volatile Target _target = new(first, fail);
    private readonly ManualResetEventSlim _isOpen = new(true);

    private sealed record Target(Coordinator Coordinator, Action<int, string> Fail);

    /// <summary>
    /// Returns what ends the process of the app that serves now, if it does not end by itself: an app that broke the protocol is replaced,
    /// and not only its connection. Null: it is not this process's to end.
    /// </summary>
    public Func<Action?>? Replacement { private get; set; }

    /// <summary>New connections wait until it is said whose they are.</summary>
    public void Hold() => _isOpen.Reset();

    /// <summary>New connections are those of another replica.</summary>
    public void TurnTo(Coordinator other, Action<int, string> failOfOther)
    {
        _target = new Target(other, failOfOther);
        _isOpen.Set();
    }

    public void Start() => PumpThread.Start("app-accept", AcceptLoop, fail);

    private void AcceptLoop()
    {
        var trouble = new AcceptBackoff();
        while (!_stopped)
        {
            Socket socket;
            try
            {
                socket = endpoint.Listener.Accept();
            }
            catch (Exception e) when (_stopped && e is SocketException or ObjectDisposedException)
            {
                return;
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.Interrupted)
            {
                continue; // a signal
            }
            catch (SocketException e)
            {
                Rest(trouble, e.Message);
                continue;
            }
            if (PeerCredentials.WhatIsWrong(socket) is { } wrong)
            {
                socket.Dispose();
                Refused(wrong);
                continue;
            }
            Admit(socket);
            if (PumpThread.TryStart("app-in", () => Serve(socket), (code, why) => _target.Fail(code, why)) is not null)
            {
                if (trouble.Succeeded(out long failures)) logger.AppAcceptResumed(failures);
                continue;
            }
            IsStrangerNoMore(socket);
            socket.Dispose();
            Rest(trouble, "the system gives out no thread for it");
        }
    }

    private void Rest(AcceptBackoff trouble, string why)
    {
        TimeSpan rest = trouble.Failed(out bool isFirst);
        if (isFirst) logger.AppAcceptFailed(why);
        Thread.Sleep(rest);
    }

    /// <summary>Connections that come to nothing are logged, unless there are too many of them.</summary>
    private void Refused(string why)
    {
        string? admitted;
        long leftOut;
        using (_gate.Enter()) admitted = _lines.Admit(why, TimeProvider.System.GetTimestamp(), out leftOut);
        if (admitted is not null) logger.AppRefused(admitted, leftOut);
    }

    private void Admit(Socket socket)
    {
        using (_gate.Enter())
        {
            _strangers.Add(socket);
            if (_strangers.Count <= StrangersMax) return;
            _strangers[0].Shutdown(SocketShutdown.Both); // its thread comes back and says so
            _strangers.RemoveAt(0);
        }
    }

    /// <summary>Takes it out of those who have shown no token; false: it had to make room.</summary>
    private bool IsStrangerNoMore(Socket socket)
    {
        using (_gate.Enter()) return _strangers.Remove(socket);
    }

    private void Serve(Socket socket)
    {
        using Socket owned = socket;
        using PumpWork reading = progress.Enter("app-in"), sending = progress.Enter("app-out");
        using var output = new AppSender(sending);
        LockChecks.BeforeWait();
        _isOpen.Wait();
        Target mine = _target;
        AppSession session = mine.Coordinator.NewSession(output.Wake);
        session.IsPatient = true;
        using AppReader reader = session.NewReader();
        AppStream? stream = null;
        Thread? sender = null;
        string why = "closed";
        Action? replace = null;
        try
        {
            why = AwaitHello(socket, mine.Coordinator, session, reader, reading) ?? "";
            if (!session.HasBegun) Refused(why);
            else
            {
                stream = Offer(socket);
                sender = PumpThread.TryStart("app-out", () => SendLoop(socket, stream, session, output, mine), mine.Fail)
                    ?? throw new AppUnservedException("the system gives out no thread for it");
                why = ReadLoop(stream, reader, reading);
            }
        }
        catch (AppUnservedException unserved)
        {
            // The app begins again, as after any end of its connection, and what ran out may be there by then.
            why = $"the app cannot be served now: {unserved.Message}";
            Refused(why);
        }
        catch (IOException refused) when (IsOfNow(refused))
        {
            why = $"the app cannot be served now: {refused.Message}";
            Refused(why);
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            if (sender is null) SendLast(socket, session); // the process ends with the next line
            mine.Fail(code, fatal.Message);
        }
        catch (ProtocolViolation violation)
        {
            why = $"the app broke the protocol: {violation.Message}";
            session.Send(new Goodbye(GoodbyeCode.ProtocolViolation, violation.Message));
            Refused(why);
            if (session.HasBegun) replace = Replacement?.Invoke();
            CutOff(socket, output, sender);
        }
        catch (AppLeftException left)
        {
            why = left.Message;
            if (left.Goodbye.Code != GoodbyeCode.CleanStop) Refused(why);
        }
        reading.End();
        IsStrangerNoMore(socket);
        if (sender is null) SendLast(socket, session);
        output.End();
        LockChecks.BeforeWait();
        sender?.Join();
        stream?.Dispose();
        session.End(why);
        replace?.Invoke();
    }

    /// <summary>
    /// What is due to an app that broke the protocol is its goodbye. It is given time for that and for nothing more: one that stays, and
    /// reads on or does not read at all, keeps its place no longer.
    /// </summary>
    private static void CutOff(Socket socket, AppSender output, Thread? sender)
    {
        output.End();
        LockChecks.BeforeWait();
        if (sender is null || sender.Join(GoodbyeMax)) return;
        output.Abort();
        TryShutdown(socket, SocketShutdown.Both); // a sender that waits for the app to read comes back
    }

    /// <summary>
    /// Descriptors or memory have run out where the log is read for the app. Nothing was written: the app's connection ends, and it comes
    /// again.
    /// </summary>
    private static bool IsOfNow(IOException e) => IFileSystem.IsLimit(e.HResult);

    /// <exception cref="AppUnservedException">The system has no memory to share, or no descriptor for it.</exception>
    private AppStream Offer(Socket socket)
    {
        if (!endpoint.HasRings) return new SocketStream(socket);
        try
        {
            return RingStream.Offer(socket);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new AppUnservedException(e.Message);
        }
    }

    /// <summary>Receives until the session has begun; otherwise returns why it has not.</summary>
    private string? AwaitHello(Socket socket, Coordinator coordinator, AppSession session, AppReader reader, PumpWork work)
    {
        long begun = Environment.TickCount64;
        while (true)
        {
            // For the hello as a whole: a byte now and then does not keep a place among the few connections.
            socket.ReceiveTimeout = (int)Math.Max(1, s_helloMax.TotalMilliseconds - (Environment.TickCount64 - begun));
            int received = socket.Receive(reader.Space().Span, SocketFlags.None, out SocketError error);
            if (error == SocketError.TimedOut) return "no hello within 5 s (P2.4)";
            if (error != SocketError.Success || received == 0)
                return IsStrangerNoMore(socket) ? "closed by the other side before its hello (P2.4)"
                    : $"one of more than {StrangersMax} that had not said hello";
            ReadAnswer answer = reader.Received(received);
            if (answer == ReadAnswer.AppIsLive)
            {
                IsStrangerNoMore(socket); // it has shown the token
                answer = AwaitHandover(coordinator, session, reader);
            }
            while (answer == ReadAnswer.LogUnread)
            {
                IsStrangerNoMore(socket);
                if (socket.Poll(0, SelectMode.SelectRead) && socket.Available == 0)
                    return "closed by the other side while the log was read (P5.2)";
                Thread.Sleep(coordinator.Upgrades.IsSwitching ? s_readOnSoon : s_readOn);
                answer = reader.Continue();
            }
            if (!session.HasBegun) continue;
            IsStrangerNoMore(socket);
            socket.ReceiveTimeout = 0;
            if (socket.AddressFamily == AddressFamily.InterNetwork) socket.NoDelay = true;
            GoOn(reader, answer, work);
            work.End();
            return null;
        }
    }

    /// <summary>An app that comes while the dead one's bytes are still being read waits for them.</summary>
    private static ReadAnswer AwaitHandover(Coordinator coordinator, AppSession session, AppReader reader)
    {
        long begun = Environment.TickCount64;
        while (coordinator.Sessions.Live is not null && Environment.TickCount64 - begun < s_handoverMax.TotalMilliseconds) Thread.Sleep(1);
        session.IsPatient = false;
        return reader.Continue();
    }

    private string ReadLoop(AppStream stream, AppReader reader, PumpWork work)
    {
        while (true)
        {
            int received = stream.Receive(reader.Space().Span);
            if (received == 0) return "the app's connection ended";
            work.Begin();
            GoOn(reader, reader.Received(received), work);
            work.End();
        }
    }

    private void GoOn(AppReader reader, ReadAnswer answer, PumpWork work)
    {
        while (answer != ReadAnswer.More)
        {
            waitForRoom(CancellationToken.None);
            work.Begin(); // each try by itself: however long the disk is behind, this one goes on
            answer = reader.Continue();
        }
    }

    /// <summary>Sends the reason to one whose session has not begun, as far as it is read.</summary>
    private static void SendLast(Socket socket, AppSession session)
    {
        try
        {
            socket.SendTimeout = 1000;
            while (session.TryTake(out ReadOnlyMemory<byte> bytes))
            {
                for (int sent = 0; sent < bytes.Length;) sent += socket.Send(bytes.Span[sent..]);
                session.Taken();
            }
            socket.Shutdown(SocketShutdown.Both);
        }
        catch (SocketException)
        {
            // It is gone already.
        }
    }

    private void SendLoop(Socket socket, AppStream stream, AppSession session, AppSender output, Target of)
    {
        try
        {
            output.Run(session, stream);
            stream.End();
        }
        catch (SocketException)
        {
            // The app is gone, and what it sent before is still to be read, so only this direction ends. An app that lives, where the
            // system had no room for what was sent, sees the end of it and comes again.
            TryShutdown(socket, SocketShutdown.Send);
        }
        catch (BuildReplacedException replaced)
        {
            logger.PrimaryRedeployed(replaced.Message);
            stream.End();
        }
        catch (LogTruncatedException truncated)
        {
            if (of.Coordinator.Execution.View?.WhenTruncated(truncated.Next) is { } over) of.Fail(ExitCodes.Io, over);
            else logger.LeftBehind(truncated.Next);
            stream.End();
        }
        catch (IOException refused) when (IsOfNow(refused))
        {
            Refused($"the app cannot be served now: {refused.Message}");
            stream.End();
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            of.Fail(code, fatal.Message);
            stream.End(); // the process may go on for a while, without this app
        }
        catch (ProtocolViolation damage)
        {
            of.Fail(ExitCodes.Damage, $"the log holds what it must not: {damage.Message}");
        }
    }

    private static void TryShutdown(Socket socket, SocketShutdown how)
    {
        try
        {
            socket.Shutdown(how);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The connection has ended.
        }
    }

    public void Dispose()
    {
        _stopped = true;
        endpoint.Listener.Dispose();
    }

    /// <summary>What serving the app takes has run out; its connection ends, and it comes again.</summary>
    private sealed class AppUnservedException(string why) : Exception(why);
}
