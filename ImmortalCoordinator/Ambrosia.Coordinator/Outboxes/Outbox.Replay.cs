using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>What a restarted app emits again is held against what was emitted before (I8).</summary>
internal sealed partial class Outbox
{
    /// <summary>A new app session begins to emit from <paramref name="from"/>: what follows up to known is compared, not kept.</summary>
    /// <param name="forgotten">Receivers of this name that were forgotten before that.</param>
    public void BeginSession(ChannelPosition from, int forgotten = 0)
    {
        using (_gate.Enter())
        {
            if (forgotten > _generation || (forgotten == _generation && from.Number > _known.Number))
                throw new InvalidOperationException($"a session to {Destination} begins at {from.Number}, beyond {_known.Number}");
            _emitted = (from, forgotten);
            _impulses.BeginSession();
        }
    }

    private bool AppendReplayed(BlockPool.Block block, int frameAt, in RunView run, int runBytes, ChannelPosition after)
    {
        if (after.Number < _known.Number) { _emitted.At = after; return false; }
        uint old = (uint)(_known.Number - _emitted.At.Number);
        int oldBytes = MessageScanner.Skip(run.Messages, old);
        _emitted.At = _emitted.At.After(run.Header.Kind, run.Messages[..oldBytes], old);
        if (_emitted.At != _known) throw ReplayDiffers();
        if (old == run.Header.Count) return false;

        // The new rest becomes a frame of its own: its headers and extensions move up over messages that are known.
        Span<byte> frame = block.Bytes.AsSpan(frameAt, FrameHeader.Bytes + runBytes);
        int front = FrameHeader.Bytes + RunHeader.Bytes + (int)run.Header.ExtensionBytes;
        frame[..front].CopyTo(frame[oldBytes..]);
        RunHeader rest = run.Header with { Count = run.Header.Count - old };
        _emitted.At = _emitted.At.After(rest.Kind, run.Messages[oldBytes..], rest.Count);
        Keep(block, frameAt + oldBytes, rest, _emitted.At, runBytes - oldBytes);
        return true;
    }

    /// <summary>Notes what the running session has emitted by now.</summary>
    public void Note()
    {
        using (_gate.Enter()) _notes.Emitted = _emitted;
    }

    /// <summary>Requires that the running session has emitted here what was noted.</summary>
    /// <exception cref="DivergenceException">The session has emitted something else, or another number of calls.</exception>
    public void RequireAsNoted(Lsn place)
    {
        using (_gate.Enter())
            if (_emitted != _notes.Emitted) throw DivergenceException.OfPlace(Destination, place, Counted(_emitted), Counted(_notes.Emitted));
    }

    /// <summary>Requires that the calls which the running session is about to emit are known: it replays what is below a place.</summary>
    /// <exception cref="DivergenceException">The session emits more calls than the sessions before it.</exception>
    public void RequireKnown(uint count, Lsn below)
    {
        using (_gate.Enter())
            if (_emitted.Generation == _generation && _emitted.At.Number + count > _known.Number)
                throw DivergenceException.OfMore(Destination, below, _emitted.At.Number + count, _known.Number);
    }

    /// <summary>Requires that the running session, which has replayed all, has emitted every call that is known.</summary>
    /// <exception cref="DivergenceException">The session has emitted fewer calls than the sessions before it.</exception>
    public void RequireReplayed()
    {
        using (_gate.Enter())
            if (_emitted.Generation == _generation && _emitted.At.Number < _known.Number) throw ReplayDiffers();
    }

    private static (ulong Number, ulong Hash) Counted((ChannelPosition At, int Generation) emitted) => (emitted.At.Number, emitted.At.Hash);

    private DivergenceException ReplayDiffers() =>
        DivergenceException.OfChannel(Destination, (_emitted.At.Number, _emitted.At.Hash), (_known.Number, _known.Hash));
}
