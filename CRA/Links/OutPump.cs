using System.Net.Sockets;
using Ambrosia.Protocol.Locking;
using CRA.Streams;

namespace CRA.Links;

/// <summary>
/// The sending side of a connection consists of the loop of the out thread and of the sends that other threads do inline. One thread sends
/// at a time (<see cref="_send"/>). What was taken from the traffic is sent whole and in order before anything else is taken. A wake is
/// never lost.
/// </summary>
internal sealed class OutPump(LinkStream stream, LinkEnding ending, LinkSettings settings, long begun)
{
    /// <summary>This is added to a timed wait, so that it does not end a moment before the heartbeat is due.</summary>
    private static readonly TimeSpan s_timerGrain = TimeSpan.FromMilliseconds(1);

    private readonly TimeProvider _time = settings.Time;
    private readonly Liveness _liveness = settings.NewLiveness(begun);
    private readonly AutoResetEvent _wake = new(false);
    private readonly RankedLock _send = new(LockRank.OutPump);

    /// <summary>The unsent part of what was last taken. Guarded by <see cref="_send"/>.</summary>
    private ReadOnlyMemory<byte> _rest;

    /// <summary>The traffic that may be asked for bytes; null before the start and after the end. Guarded by <see cref="_send"/>.</summary>
    private ILinkTraffic? _traffic;

    /// <summary>1 while the out thread waits or is about to; whoever sets it to 0 sets <see cref="_wake"/>.</summary>
    private int _parked;

    /// <summary>Starts to take bytes from the traffic.</summary>
    public void Open(ILinkTraffic traffic)
    {
        using (_send.Enter()) _traffic = traffic;
    }

    /// <summary>Ends all sending. When it returns, no thread is inside the traffic or the stream to send, and none will be.</summary>
    public void Shut()
    {
        using (_send.Enter()) (_traffic, _rest) = (null, default);
    }

    /// <summary>
    /// Makes the out thread ask the traffic again. Never lost: the caller queued first and then reads _parked, the out thread sets
    /// _parked first and then asks the traffic, with a full fence between on both sides, so that one of the two sees the other.
    /// </summary>
    public void Wake()
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _parked) != 0 && Interlocked.Exchange(ref _parked, 0) != 0) _wake.Set();
    }

    /// <summary>
    /// Sends inline what the socket takes without waiting, unless another thread is sending; the out thread does the rest.
    /// </summary>
    public void Nudge()
    {
        // The lock is reentrant, but a nudge from inside TryTake or Taken must not send in between; that sender asks again anyway.
        if (!_send.IsHeldByCurrentThread && _send.TryEnter())
        {
            try
            {
                if (SendInline()) return;
            }
            finally
            {
                _send.Exit();
            }
        }
        Wake();
    }

    /// <summary>The loop of the out thread: runs until the connection is closed, or finished and everything sent. Returns why.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public string Run()
    {
        while (!ending.IsClosed)
        {
            bool isLast = ending.IsFinishing;
            if (SendAll()) continue;
            if (isLast) return Finish();
            Park();
        }
        return ending.Why;
    }

    private void Park()
    {
        Volatile.Write(ref _parked, 1);
        Interlocked.MemoryBarrier();
        LockChecks.BeforeWait();
        if (!SendAll() && !ending.IsFinishing) _wake.WaitOne(_liveness.UntilHeartbeat(_time.GetTimestamp()) + s_timerGrain);
        Volatile.Write(ref _parked, 0);
    }

    /// <summary>Ends our direction, and gives the other side a while to end its own.</summary>
    private string Finish()
    {
        stream.EndSending();
        long since = _time.GetTimestamp();
        while (true)
        {
            Volatile.Write(ref _parked, 1);
            Interlocked.MemoryBarrier();
            TimeSpan left = InPump.FinishMax - _time.GetElapsedTime(since);
            if (ending.IsClosed || left <= TimeSpan.Zero) return ending.Why;
            LockChecks.BeforeWait();
            _wake.WaitOne(left);
        }
    }

    /// <summary>Sends until the traffic has nothing, waiting for the socket; returns whether anything was sent.</summary>
    private bool SendAll()
    {
        using (_send.Enter())
        {
            bool sent = stream.HasUnflushed;
            if (sent) stream.Flush(); // what an inline send left
            while (!ending.IsClosed && TakeNext())
            {
                Account(stream.Send(_rest));
                sent = true;
            }
            return sent || SendHeartbeat();
        }
    }

    /// <summary>Sends what needs no wait; returns whether nothing is left to send. The caller holds <see cref="_send"/>.</summary>
    private bool SendInline()
    {
        while (!ending.IsClosed && TakeNext())
        {
            int sent;
            try
            {
                sent = stream.TrySend(_rest);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                return false; // the pumps meet the same and end the connection
            }
            if (sent == 0) return false;
            Account(sent);
        }
        return !stream.HasUnflushed;
    }

    /// <summary>
    /// Makes <see cref="_rest"/> the next bytes to send; returns false when there are none. The caller holds <see cref="_send"/>.
    /// </summary>
    private bool TakeNext()
    {
        if (!_rest.IsEmpty) return true;
        if (_traffic is null || !_traffic.TryTake(out _rest)) return false;
        return !_rest.IsEmpty ? true : throw new InvalidOperationException("The traffic gave no bytes to send.");
    }

    private void Account(int sent)
    {
        _rest = _rest[sent..];
        _liveness.Sent(_time.GetTimestamp());
        _traffic!.Taken(sent);
    }

    /// <summary>Sends a heartbeat if one is due. The caller holds <see cref="_send"/>, between two frames.</summary>
    private bool SendHeartbeat()
    {
        long now = _time.GetTimestamp();
        if (_traffic is null || ending.IsFinishing || _liveness.UntilHeartbeat(now) > TimeSpan.Zero) return false;
        _liveness.Sent(now); // also where none may be sent yet: asked again in a second, not at once
        ReadOnlyMemory<byte> frame = _traffic.HeartbeatFrame;
        if (!frame.IsEmpty) stream.Send(frame);
        return !frame.IsEmpty;
    }
}
