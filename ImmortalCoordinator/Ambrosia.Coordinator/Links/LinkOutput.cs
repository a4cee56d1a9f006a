using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// Knows what is under way on one connection to a peer. It owns the control frames that wait, and tells whether the bytes that were taken
/// last are control frames or runs. The link's lock guards the control frames; the rest is the out thread's.
/// </summary>
internal sealed class LinkOutput(uint seed)
{
    private bool _controlTaken, _runsTaken;
    private int _bytesLeft;

    /// <summary>The frames that go before any run.</summary>
    public FrameQueue Control { get; } = new(seed, checkPayload: true);

    public ReadOnlyMemory<byte> Heartbeat { get; } = LinkFrames.Heartbeat(seed);

    /// <summary>Takes the control frames that wait. The link's lock is held.</summary>
    public bool TryTakeControl(out ReadOnlyMemory<byte> bytes)
    {
        _controlTaken = Control.TryTake(out bytes);
        _bytesLeft = bytes.Length;
        return _controlTaken;
    }

    /// <summary>Takes the runs that are next.</summary>
    public bool TryTakeRuns(LinkExchange exchange, out ReadOnlyMemory<byte> bytes)
    {
        _runsTaken = exchange.TryTakeRuns(out bytes);
        _bytesLeft = bytes.Length;
        return _runsTaken;
    }

    /// <summary>So many of the bytes that were taken have been sent.</summary>
    /// <param name="exchange">Null while the link is not open.</param>
    public void Sent(int bytes, LinkExchange? exchange)
    {
        _bytesLeft -= bytes;
        if (_bytesLeft > 0) { if (_runsTaken) Crash.Hit("out.partialSend"); return; }
        if (_runsTaken) exchange!.Sent();
        else if (_controlTaken && exchange is { HasAcknowledged: true }) Crash.Hit("ack.afterSend");
        _controlTaken = _runsTaken = false;
    }
}
