using System.Buffers;
using System.Diagnostics;
using System.Net.Sockets;
using Ambrosia.AppChannel;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Pumps;

/// <summary>
/// Sends a session's output. At the end of a batch the scheduler's thread sends what the channel takes at once, which saves a hand-off. The
/// rest, and what piles up while handlers run, is sent by a thread of its own. Impulses that follow one another closely go together: each
/// send of its own would wake the coordinator, which costs more than all the rest of an impulse. Invariant: whoever takes output holds the
/// send gate, so frames stay whole; a wake that comes while the gate is held is seen by the sender's thread afterwards.
/// </summary>
internal sealed class OutputPump : IDisposable
{
    /// <summary>The coordinator hears of a message that is being executed for so many ticks of the stopwatch, or twice as many.</summary>
    private static readonly long s_lookEvery = Stopwatch.Frequency;

    /// <summary>The backlog in bytes below which closed runs are left to the send at the end of the scheduler's batch.</summary>
    private const long WakeBytesMin = 64 * 1024;
    private const int SendBytesMax = 1024 * 1024;
    private const int LingerBytesMax = 16 * 1024;

    /// <summary>
    /// An impulse is sent at once if none was sent for this time, in ticks of the stopwatch. Others wait for the next output, at most for
    /// the time that <see cref="SenderWake"/> lingers.
    /// </summary>
    private static readonly long s_closely = Stopwatch.Frequency / 5_000;

    private readonly ImmortalSession _session;
    private readonly AppStream _stream;
    private readonly Thread _thread;
    private readonly byte[] _heartbeat = new byte[FrameHeader.Bytes];
    private readonly RankedLock _sendGate = new(LockRank.OutputPump);
    private readonly SenderWake _wake = new();
    private readonly OutputRoom _room;
    private long _impulseSentAt = Stopwatch.GetTimestamp() - s_closely;

    internal OutputPump(ImmortalSession session, AppStream stream)
    {
        _session = session;
        _stream = stream;
        _room = new OutputRoom(session, _wake);
        new FrameHeader(0, FrameType.Heartbeat, 0).Write(_heartbeat, seed: 0);
        session.OutputClosed = OnClosed;
        session.ImpulseAdded = OnImpulse;
        session.WaitForImpulseRoom = _room.WaitForImpulses;
        _thread = new Thread(Run) { IsBackground = true, Name = "ambrosia output" };
        _thread.Start();
    }

    /// <summary>Sends without waiting, and leaves the rest to the thread. Any thread may call it.</summary>
    internal void SendNow()
    {
        bool isLeft = true;
        if (_sendGate.TryEnter())
        {
            try
            {
                isLeft = !TrySendAll();
            }
            catch (SocketException e)
            {
                Fail(e);
            }
            finally
            {
                _sendGate.Exit();
            }
            _room.Made();
        }
        if (isLeft) _wake.Wake();
    }

    /// <summary>Sends, and waits until all of it is sent. Any thread may call it.</summary>
    internal void SendAllOfIt()
    {
        try
        {
            using (_sendGate.Enter()) SendAll(isIdle: false);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            Fail(e);
        }
    }

    /// <summary>Lets the thread send what is there, for a bounded time, and ends it.</summary>
    public void Dispose()
    {
        _wake.Stop();
        _room.PulseAll();
        if (!_thread.Join(TimeSpan.FromSeconds(2))) _stream.End();
    }

    private void Run()
    {
        long looked = Stopwatch.GetTimestamp();
        MessagePlace? said = null;
        try
        {
            while (true)
            {
                bool isIdle = _wake.Await();
                bool isLast = _wake.IsStopping;
                using (_sendGate.Enter())
                {
                    SendAll(isIdle);
                    if (Stopwatch.GetTimestamp() - looked >= s_lookEvery)
                    {
                        looked = Stopwatch.GetTimestamp();
                        said = SayWhatIsExecuted(said);
                    }
                }
                if (isLast) return;
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            Fail(e);
        }
    }

    private void SendAll(bool isIdle)
    {
        while (_session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            int sent = Math.Min(bytes.Length, SendBytesMax);
            _stream.Send(bytes.Span[..sent]);
            _session.OutputTaken(sent);
            _room.Made();
            isIdle = false;
        }
        // Nothing is half sent here, so a heartbeat cannot fall into a frame. Before Welcome there is nothing to keep alive.
        if (isIdle && _session.Welcome is not null) _stream.Send(_heartbeat);
    }

    /// <summary>Says which message is being executed, unless the coordinator was told (P5.20). Nothing is half sent here.</summary>
    private MessagePlace? SayWhatIsExecuted(MessagePlace? said)
    {
        if (_session.Executing is not { } place || place == said) return said;
        var frame = new ArrayBufferWriter<byte>(FrameHeader.Bytes + ExecutingFrame.Bytes);
        FrameWriter.Write(frame, new ExecutingFrame(place), seed: 0, checkPayload: false);
        _stream.Send(frame.WrittenSpan);
        return place;
    }

    private bool TrySendAll()
    {
        while (_session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            int sent = _stream.TrySend(bytes.Span);
            if (sent > 0) _session.OutputTaken(sent);
            if (sent < bytes.Length) return false;
        }
        return true;
    }

    /// <summary>
    /// Wakes the sender, or waits at the bound. The session calls it on the scheduler's thread, in the middle of handlers.
    /// </summary>
    private void OnClosed(long backlog)
    {
        if (backlog < WakeBytesMin) return;
        _wake.Wake();
        if (backlog > OutputRoom.BacklogBytesMax) _room.WaitForHandlers();
    }

    /// <summary>Sees that an impulse is sent. The session calls it on the thread of the impulse's sender.</summary>
    private void OnImpulse()
    {
        long now = Stopwatch.GetTimestamp();
        if (now - Volatile.Read(ref _impulseSentAt) >= s_closely)
        {
            Volatile.Write(ref _impulseSentAt, now);
            SendNow();
        }
        else if (_session.ImpulseBacklog > LingerBytesMax) _wake.Wake();
        else _wake.Linger();
    }

    /// <summary>Ends the stream, so that the reader finds the connection closed and ends the session.</summary>
    private void Fail(Exception why)
    {
        _room.Fail(why);
        _stream.End();
    }
}

/// <summary>
/// Wakes the sender's thread of an <see cref="OutputPump"/>. That thread alone calls <see cref="Await"/>; any thread may call the rest, and
/// a call while the thread is awake costs no system call. Invariant: a wake is never lost. A waker sets what it asks for and then looks
/// whether the thread is parked; the thread does both the other way round.
/// </summary>
internal sealed class SenderWake
{
    private static readonly TimeSpan s_heartbeatEvery = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_linger = TimeSpan.FromMilliseconds(1);

    /// <summary>
    /// The sender's thread waits on the event, and only while <see cref="_parked"/> is set. It is left to its finalizer: a sender of
    /// impulses may be about to set it.
    /// </summary>
    private readonly AutoResetEvent _event = new(false);
    private volatile bool _asked, _lingering, _stopping;
    private int _parked;

    internal bool IsStopping => _stopping;

    /// <summary>Waits until there is something to send. True: nothing happened for a heartbeat's time.</summary>
    internal bool Await()
    {
        bool isIdle = false;
        while (true)
        {
            LockChecks.BeforeWait();
            Interlocked.Exchange(ref _parked, 1);
            if (_asked || _stopping) break;
            bool lingers = _lingering;
            if (_event.WaitOne(lingers ? s_linger : s_heartbeatEvery)) continue;
            isIdle = !lingers;
            break;
        }
        Volatile.Write(ref _parked, 0);
        _asked = _lingering = false; // before looking for output: who asks from here on is looked after once more
        Interlocked.MemoryBarrier();
        return isIdle;
    }

    internal void Wake()
    {
        Interlocked.MemoryBarrier(); // what is to be sent was made visible before
        if (_asked) return;
        _asked = true;
        Unpark();
    }

    /// <summary>Lets the thread send what is there in a little while, if nobody does before.</summary>
    internal void Linger()
    {
        Interlocked.MemoryBarrier();
        if (_lingering) return;
        _lingering = true;
        Unpark();
    }

    /// <summary>Wakes the thread for the last time.</summary>
    internal void Stop()
    {
        _stopping = true;
        Wake();
    }

    private void Unpark()
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _parked) != 0 && Interlocked.Exchange(ref _parked, 0) != 0) _event.Set();
    }
}
