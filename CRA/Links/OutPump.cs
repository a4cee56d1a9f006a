using System.Net.Sockets;

namespace CRA;

/// <summary>
/// The sending side of a connection: the loop of the out thread, and the sends that other threads do inline. One thread sends at a
/// time (_send). What was taken from the traffic is sent whole and in order before anything else is taken. A wake is never lost.
/// </summary>
internal sealed class OutPump(LinkStream stream, LinkEnding ending, LinkSettings settings, long begun)
{
    // Added to a timed wait, so that it does not end a moment before the heartbeat is due.
    private static readonly TimeSpan TimerGrain = TimeSpan.FromMilliseconds(1);

    private readonly TimeProvider _time = settings.Time;
    private readonly Liveness _liveness = settings.NewLiveness(begun);
    private readonly AutoResetEvent _wake = new(false);
    private readonly Lock _send = new();

    // The unsent part of what was last taken. Guarded by _send.
    private ReadOnlyMemory<byte> _rest;

    // The traffic that may be asked for bytes: null before the start and after the end. Guarded by _send.
    private ILinkTraffic? _traffic;

    // 1 while the out thread is about to wait or waits; whoever takes it to 0 sets _wake.
    private int _parked;

    public void Open(ILinkTraffic traffic)
    {
        lock (_send) _traffic = traffic;
    }

    /// <summary>When it returns, no thread is inside the traffic or the stream for sending, and none comes any more.</summary>
    public void Shut()
    {
        lock (_send) (_traffic, _rest) = (null, default);
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
        if (!SendAll() && !ending.IsFinishing) _wake.WaitOne(_liveness.UntilHeartbeat(_time.GetTimestamp()) + TimerGrain);
        Volatile.Write(ref _parked, 0);
    }

    // Ends our direction, and gives the other side a while to end its own.
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
            _wake.WaitOne(left);
        }
    }

    // Sends until the traffic has nothing, waiting for the socket; true when anything was sent.
    private bool SendAll()
    {
        lock (_send)
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

    // True when nothing is left to send. Inside _send.
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

    // Makes _rest the next bytes to send; false when there are none. Inside _send.
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

    // Inside _send, between frames.
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
