using System.Net.Sockets;
using Ambrosia.Protocol;
using CRA.Streams;

namespace CRA.Links;

/// <summary>
/// The receiving loop of a connection blocks in the socket, feeds the traffic, and obeys its answer. It lives on the in thread alone.
/// </summary>
internal sealed class InPump(LinkStream stream, LinkEnding ending, Action<string> closeAfterSending, LinkSettings settings, long begun)
{
    /// <summary>After this side has finished, the other side's last bytes may take this long.</summary>
    public static readonly TimeSpan FinishMax = TimeSpan.FromSeconds(1);

    private readonly TimeProvider _time = settings.Time;
    private readonly Liveness _liveness = settings.NewLiveness(begun);

    /// <summary>
    /// The timeout of a receive is rounded up to steps of this, so that nearly all receives have the same one and it costs no call to set.
    /// </summary>
    private readonly double _timeoutStepMs = Math.Max(1, settings.DeadAfter.TotalMilliseconds / 8);

    /// <summary>A first whole frame was taken. Until then bytes that come one by one keep nothing alive (P7.3).</summary>
    private bool _hasBegun;
    private bool _isLate;

    /// <summary>Runs until the connection ends; returns why.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public string Run(ILinkTraffic traffic)
    {
        using var buffer = new ReceiveBuffer(settings.Receiving);
        while (!ending.IsFinishing)
        {
            if (!buffer.MakeRoom(traffic.FrameBytesWanted))
                return $"all connections together hold {settings.Receiving.Held} bytes of frames under way, and {settings.Receiving.BytesMax} is the bound (P7.3)";
            int received = Receive(buffer.Free);
            if (received < 0)
                return _isLate ? $"no whole frame within {settings.DeadAfter.TotalSeconds} s (P7.3)"
                    : $"nothing arrived for {settings.DeadAfter.TotalSeconds} s (P6.9)";
            if (received == 0) return "the other side closed the connection";
            bool drained = stream.IsDrainedBy(received, buffer.Free.Length);
            buffer.Received(received);
            if (!ending.IsFinishing) FeedAll(traffic, buffer, drained);
        }
        return Discard(buffer);
    }

    private void FeedAll(ILinkTraffic traffic, ReceiveBuffer buffer, bool drained)
    {
        try
        {
            while (true)
            {
                FeedResult answer = traffic.Feed(buffer.Held, drained, out int consumed);
                buffer.Consume(consumed);
                _hasBegun |= consumed > 0;
                if (answer == FeedResult.Close) closeAfterSending("closed by this side");
                if (answer != FeedResult.NoRoom || ending.IsFinishing) return;
                traffic.WaitForRoom(ending.Stop);
                _liveness.Heard(_time.GetTimestamp()); // the silence was ours
            }
        }
        catch (ProtocolViolation violation)
        {
            closeAfterSending($"the other side broke the protocol: {violation.Message}");
        }
        catch (OperationCanceledException) when (ending.IsFinishing)
        {
            // Ended while there was no room.
        }
    }

    /// <summary>Receives; returns the number of bytes, 0 at the end of the stream, and -1 when the other side is dead.</summary>
    private int Receive(Memory<byte> into)
    {
        while (true)
        {
            long now = _time.GetTimestamp();
            TimeSpan left = _liveness.UntilDead(now);
            if (left <= TimeSpan.Zero) return -1;
            if (!_hasBegun && settings.DeadAfter - _time.GetElapsedTime(begun, now) is var untilLate && untilLate < left)
            {
                left = untilLate;
                _isLate = left <= TimeSpan.Zero;
                if (_isLate) return -1;
            }
            if (!TryReceive(into, Math.Ceiling(left.TotalMilliseconds / _timeoutStepMs) * _timeoutStepMs, out int received)) continue;
            _liveness.Heard(_time.GetTimestamp());
            return received;
        }
    }

    /// <summary>Waits once; returns false on a timeout, which is at least 1 ms since 0 would mean for ever.</summary>
    private bool TryReceive(Memory<byte> into, double timeoutMs, out int received) =>
        (received = stream.Receive(into, Math.Max(1, (int)Math.Ceiling(timeoutMs)))) >= 0;

    /// <summary>
    /// Reads the other side to its end: closing a socket with unread bytes resets it, and the reset would overtake our last bytes.
    /// </summary>
    private string Discard(ReceiveBuffer buffer)
    {
        buffer.Consume(buffer.Held.Length);
        long since = _time.GetTimestamp();
        while (!ending.IsClosed)
        {
            TimeSpan left = FinishMax - _time.GetElapsedTime(since);
            if (left <= TimeSpan.Zero || (TryReceive(buffer.Free, left.TotalMilliseconds, out int received) && received == 0)) break;
        }
        return ending.Why;
    }
}
