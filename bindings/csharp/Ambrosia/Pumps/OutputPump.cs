// Sends a session's output. At the end of a batch the scheduler's thread sends what the channel takes at once, which saves a hand-off;
// the rest, and what piles up while handlers run, is sent by a thread of its own. Invariant: whoever takes output holds the send gate, so
// frames stay whole; a wake that comes while the gate is held is seen by the sender's thread afterwards. Impulses that follow one another
// closely go together: each send of its own would wake the coordinator, which costs more than all the rest of an impulse.
using System.Diagnostics;
using System.Net.Sockets;
using Ambrosia.AppChannel;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class OutputPump : IDisposable
{
    /// <summary>
    /// Handlers wait when more output than this is unsent, since the coordinator is behind; little enough to stay in the processor's cache.
    /// </summary>
    private const long BacklogBytesMax = 2 * 1024 * 1024;

    /// <summary>They go on when so little is left: not at each send, which would change threads for every few messages.</summary>
    private const long BacklogBytesResume = BacklogBytesMax / 2;
    private const long WakeBytesMin = 64 * 1024;
    private const int SendBytesMax = 1024 * 1024;
    private const int LingerBytesMax = 16 * 1024;
    private static readonly TimeSpan s_heartbeatEvery = TimeSpan.FromSeconds(1);

    /// <summary>
    /// An impulse is sent at once when none was for so long. Others wait for the next output, at most for the second time.
    /// </summary>
    private static readonly long s_closely = Stopwatch.Frequency / 5_000;
    private static readonly TimeSpan s_linger = TimeSpan.FromMilliseconds(1);

    private readonly ImmortalSession session;
    private readonly AppStream stream;
    private readonly Thread thread;
    private readonly byte[] heartbeat = new byte[FrameHeader.Bytes];
    private readonly Lock sendGate = new();

    /// <summary>
    /// The sender's thread waits on it, and only while <see cref="parked"/> is set. A waker sets asked and then looks at parked, that
    /// thread the other way round.
    /// </summary>
    private readonly AutoResetEvent wake = new(false);
    private volatile bool asked, lingering, stopping;
    private int parked;
    private long impulseSentAt = Stopwatch.GetTimestamp() - s_closely;

    // Guarded by roomGate, which is never held while sending; the counts are read without it, after something was sent.
    private readonly object roomGate = new();
    private int handlersWaiting, impulsesWaiting;
    private Exception? failure;

    internal OutputPump(ImmortalSession session, AppStream stream)
    {
        this.session = session;
        this.stream = stream;
        new FrameHeader(0, FrameType.Heartbeat, 0).Write(heartbeat, seed: 0);
        session.OutputClosed = OnClosed;
        session.ImpulseAdded = OnImpulse;
        session.WaitForImpulseRoom = WaitForImpulseRoom;
        thread = new Thread(Run) { IsBackground = true, Name = "ambrosia output" };
        thread.Start();
    }

    /// <summary>Sends without waiting; what is left goes to the thread. Any thread.</summary>
    internal void SendNow()
    {
        bool isLeft = true;
        if (sendGate.TryEnter())
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
                sendGate.Exit();
            }
            MadeRoom();
        }
        if (isLeft) Wake();
    }

    /// <summary>Lets the thread send what is there, for a bounded time, and ends it.</summary>
    public void Dispose()
    {
        stopping = true;
        Wake();
        lock (roomGate) Monitor.PulseAll(roomGate);
        // The event is left to its finalizer: a sender of impulses may be about to set it.
        if (!thread.Join(TimeSpan.FromSeconds(2))) stream.End();
    }

    private void Run()
    {
        try
        {
            while (true)
            {
                bool isIdle = AwaitWake();
                bool isLast = stopping;
                lock (sendGate) SendAll(isIdle);
                if (isLast) return;
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            Fail(e);
        }
    }

    /// <summary>True: nothing happened for a heartbeat's time.</summary>
    private bool AwaitWake()
    {
        bool isIdle = false;
        while (true)
        {
            Interlocked.Exchange(ref parked, 1);
            if (asked || stopping) break;
            bool lingers = lingering;
            if (wake.WaitOne(lingers ? s_linger : s_heartbeatEvery)) continue;
            isIdle = !lingers;
            break;
        }
        Volatile.Write(ref parked, 0);
        asked = lingering = false; // before looking for output: who asks from here on is looked after once more
        Interlocked.MemoryBarrier();
        return isIdle;
    }

    private void SendAll(bool isIdle)
    {
        while (session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            int sent = Math.Min(bytes.Length, SendBytesMax);
            stream.Send(bytes.Span[..sent]);
            session.OutputTaken(sent);
            MadeRoom();
            isIdle = false;
        }
        // Nothing is half sent here, so a heartbeat cannot fall into a frame. Before Welcome there is nothing to keep alive.
        if (isIdle && session.Welcome is not null) stream.Send(heartbeat);
    }

    private bool TrySendAll()
    {
        while (session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            int sent = stream.TrySend(bytes.Span);
            if (sent > 0) session.OutputTaken(sent);
            if (sent < bytes.Length) return false;
        }
        return true;
    }

    /// <summary>On the scheduler's thread, in the middle of handlers.</summary>
    private void OnClosed(long backlog)
    {
        if (backlog < WakeBytesMin) return;
        Wake();
        if (backlog > BacklogBytesMax) WaitForRoom();
    }

    /// <summary>On the thread of an impulse's sender.</summary>
    private void OnImpulse()
    {
        long now = Stopwatch.GetTimestamp();
        if (now - Volatile.Read(ref impulseSentAt) >= s_closely)
        {
            Volatile.Write(ref impulseSentAt, now);
            SendNow();
        }
        else if (session.ImpulseBacklog > LingerBytesMax) Wake();
        else Linger();
    }

    private void WaitForRoom()
    {
        lock (roomGate)
        {
            Interlocked.Increment(ref handlersWaiting);
            while (session.OutputBacklog > BacklogBytesResume && failure is null) Monitor.Wait(roomGate);
            handlersWaiting--;
            if (failure is not null) throw new ChannelEnded(failure.Message);
        }
    }

    /// <summary>On the thread of an impulse's sender. Returns when something was sent, or nothing waits.</summary>
    private void WaitForImpulseRoom()
    {
        lock (roomGate)
        {
            if (failure is not null)
                throw new InvalidOperationException("Impulses are not accepted any more: the app channel has ended.", failure);
            if (stopping) return; // nobody pulses behind the end, and the outbox says then that it takes no more
            Interlocked.Increment(ref impulsesWaiting);
            if (session.ImpulseBacklog > 0)
            {
                Wake();
                Monitor.Wait(roomGate);
            }
            impulsesWaiting--;
        }
    }

    private void Wake()
    {
        Interlocked.MemoryBarrier(); // what is to be sent was made visible before
        if (asked) return;
        asked = true;
        Unpark();
    }

    /// <summary>The thread sends what is there in a little while, if nobody does before.</summary>
    private void Linger()
    {
        Interlocked.MemoryBarrier();
        if (lingering) return;
        lingering = true;
        Unpark();
    }

    private void Unpark()
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref parked) != 0 && Interlocked.Exchange(ref parked, 0) != 0) wake.Set();
    }

    /// <summary>
    /// Output was sent: whoever waits for it goes on. A waiter counts itself and then looks at the backlog, so one
    /// of the two sees the other.
    /// </summary>
    private void MadeRoom()
    {
        Interlocked.MemoryBarrier();
        bool isForHandlers = Volatile.Read(ref handlersWaiting) != 0 && session.OutputBacklog <= BacklogBytesResume;
        if (!isForHandlers && Volatile.Read(ref impulsesWaiting) == 0) return;
        lock (roomGate) Monitor.PulseAll(roomGate);
    }

    /// <summary>The reader finds the connection closed and ends the session.</summary>
    private void Fail(Exception why)
    {
        lock (roomGate)
        {
            failure ??= why;
            Monitor.PulseAll(roomGate);
        }
        stream.End();
    }
}
