using System.Diagnostics.CodeAnalysis;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Step 4 of a call: the outputs of one channel. It numbers them, hashes them, keeps them until they are trimmed
/// (<see cref="RetainedBatches"/>), and compares what a restarted app emits again with what is known. Impulses to the same instance stand
/// between the calls in the order of emission. It owns the channel's positions. Invariant: trimmed ≤ emitted ≤ known, and known − trimmed =
/// the kept runs' calls. Any thread; one lock, taken once a run.
/// </summary>
internal sealed partial class Outbox(InstanceId destination, uint index, ScratchFile scratch, MemoryBudget memory)
{
    private readonly RankedLock _gate = new(LockRank.Outbox);
    private readonly RetainedBatches _kept = new(destination, scratch, memory);

    /// <summary>The last numbered output there is.</summary>
    private ChannelPosition _known;

    /// <summary>
    /// The position up to which the running app session has emitted, and how many receivers of this name were forgotten before it. It is
    /// behind the known one while the session replays, and its count of the forgotten is at most <see cref="_generation"/>.
    /// </summary>
    private (ChannelPosition At, int Generation) _emitted;

    /// <summary>The last call that is durable at the receiver, as of the Trim records that have been applied (I3).</summary>
    private ChannelPosition _trimmed;

    /// <summary>The number of receivers of this name that were forgotten.</summary>
    private int _generation;
    private ImpulseNumbers _impulses;
    private ReceiverProgress _receiver = new();
    private OutboxNotes _notes = new();

    public InstanceId Destination { get; } = destination;

    /// <summary>The number of this outbox in its set; numbers are dense.</summary>
    public uint Index { get; } = index;

    /// <summary>Calls emitted up to the last digest position; the thread that reads the app owns it.</summary>
    public ulong DigestedCount { get => _notes.DigestedCount; set => _notes.DigestedCount = value; }

    /// <summary>True when something was emitted since the last digest position; the thread that reads the app owns it.</summary>
    public bool IsUndigested { get => _notes.IsUndigested; set => _notes.IsUndigested = value; }

    /// <summary>
    /// True when something was emitted since <see cref="Note"/>; the thread that reads the app owns it, as it does what is noted.
    /// </summary>
    public bool IsUnnoted { get => _notes.IsUnnoted; set => _notes.IsUnnoted = value; }

    /// <summary>The index by which the running session's app declared this destination; -1: it has not.</summary>
    public long SessionIndex
    {
        get => Volatile.Read(ref _notes.SessionIndex);
        set => Volatile.Write(ref _notes.SessionIndex, value);
    }

    /// <summary>Joins those that wait to be told of (<see cref="OutputNotifier"/>); false: it waits already.</summary>
    public bool TryJoinRound() => Interlocked.Exchange(ref _notes.IsInRound, 1) == 0;

    /// <summary>
    /// Leaves them, with a fence: what was appended before somebody found it among them is seen by whoever sends after this.
    /// </summary>
    public void LeaveRound() => Interlocked.Exchange(ref _notes.IsInRound, 0);

    /// <summary>
    /// The timestamp of the last acknowledgement that went beyond <see cref="Trimmed"/>; what is trimmed was acknowledged no later.
    /// </summary>
    public long AckedAt { get => Volatile.Read(ref _receiver.AckedAt); set => Volatile.Write(ref _receiver.AckedAt, value); }

    public ChannelPosition Known { get { using (_gate.Enter()) return _known; } }

    public ChannelPosition Emitted { get { using (_gate.Enter()) return _emitted.At; } }

    public ChannelPosition Trimmed { get { using (_gate.Enter()) return _trimmed; } }

    /// <summary>
    /// What the log has stated as durable at the receiver; <see cref="Trimmed"/> is beyond it where that was dropped early.
    /// </summary>
    public ulong Stated { get { using (_gate.Enter()) return _receiver.Stated; } }

    public bool HasUnsent { get { using (_gate.Enter()) return _kept.HasUnsent; } }

    /// <summary>How many receivers of this name were forgotten before the calls that are in here.</summary>
    public int Generation { get { using (_gate.Enter()) return _generation; } }

    public ulong ImpulsesNumbered { get { using (_gate.Enter()) return _impulses.Numbered; } }

    /// <summary>The calls that its receiver is not known to have.</summary>
    public ulong KeptCalls { get { using (_gate.Enter()) return _known.Number - _trimmed.Number; } }

    public OutboxStatus Status
    {
        get
        {
            using (_gate.Enter())
                return new OutboxStatus(Destination, _known.Number, _trimmed.Number, _impulses.Numbered, _impulses.Durable, _kept.Bytes,
                    _kept.HasUnsent);
        }
    }

    /// <summary>Takes over how many receivers of this name a checkpoint says were forgotten.</summary>
    public void RestoreGeneration(int forgotten)
    {
        using (_gate.Enter()) _generation = _emitted.Generation = forgotten;
    }

    /// <summary>Takes over what a checkpoint says of this channel, before any append.</summary>
    public void Restore(ChannelPosition known, ChannelPosition trimmed)
    {
        using (_gate.Enter())
        {
            _known = _trimmed = trimmed;
            _receiver.Stated = trimmed.Number;
            _emitted.At = known;
        }
    }

    /// <summary>Forgets every output and every number; nothing of this channel has been sent.</summary>
    public void Clear()
    {
        using (_gate.Enter())
        {
            if (_impulses.Numbered > 0)
                throw new InvalidOperationException($"the outbox to {Destination} has numbered impulses and cannot begin again");
            _kept.Clear();
            _known = _trimmed = default;
            _emitted = default;
            _generation = 0;
            _receiver.Acknowledged = _receiver.Stated = 0;
        }
    }

    /// <summary>Takes back one untrimmed run of a checkpoint, in order.</summary>
    public void RestoreRun(BlockPool.Block block, int frameAt, ReadOnlySpan<byte> run)
    {
        RunView view = RunView.Read(run);
        if (_kept.IsMemoryFull && !HasDiskFor(run.Length))
            throw new IOException(
                $"the disk has no room for the outputs to {Destination} that the checkpoint holds: free some, and start again");
        using (_gate.Enter())
            Keep(block, frameAt, view.Header, _known.After(view.Header.Kind, view.Messages, view.Header.Count), run.Length);
    }

    /// <summary>All runs of the checkpoint are back: they must end where it says.</summary>
    public void RestoreDone()
    {
        if (_known != _emitted.At)
            throw new InvalidOperationException($"the checkpoint's outbox to {Destination} ends at {_known}, its table says {_emitted.At}");
    }

    /// <summary>
    /// The app stands where the log forgets the receiver (log-format L5.14): what was for it is dropped, calls and impulses, and the
    /// channel begins anew. Returns how many calls that were not trimmed are gone; null: the app was here before, and only comes by again.
    /// </summary>
    /// <exception cref="DivergenceException">The app has not emitted what it emitted before (I8).</exception>
    public ulong? Cut()
    {
        using (_gate.Enter())
        {
            bool isFirst = _emitted.Generation == _generation;
            if (isFirst && _emitted.At != _known) throw ReplayDiffers();
            _emitted = (default, _emitted.Generation + 1);
            if (!isFirst) return null;
            ulong dropped = _known.Number - Math.Min(_known.Number, Math.Max(_receiver.Stated, _receiver.Acknowledged));
            _kept.Clear();
            _generation++;
            _known = _trimmed = default;
            _receiver = new ReceiverProgress();
            _impulses.Cut();
            return dropped;
        }
    }

    /// <summary>
    /// Says whether a run of so many bytes can be kept on disk now. A run that cannot and comes all the same stays in memory.
    /// </summary>
    public bool HasDiskFor(int runBytes) => _kept.HasDiskFor(runBytes);

    /// <summary>
    /// Takes the run in the frame at <paramref name="frameAt"/> of the block (16 bytes of frame header, run header, extensions, messages).
    /// False: it was emitted before and is dropped.
    /// </summary>
    /// <exception cref="DivergenceException">What is emitted again differs from what was emitted before (I8).</exception>
    public bool Append(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
    {
        using (_gate.Enter())
        {
            ChannelPosition after = _emitted.At.After(run.Header.Kind, run.Messages, run.Header.Count);
            if (_emitted.Generation < _generation) { _emitted.At = after; return false; } // for one that was forgotten since
            if (_emitted.At.Number >= _known.Number)
            {
                _emitted.At = after;
                Keep(block, frameAt, run.Header, after, runBytes);
                return true;
            }
            return AppendReplayed(block, frameAt, run, runBytes, after);
        }
    }

    /// <summary>Takes a run of impulses; returns the number of its last one.</summary>
    /// <exception cref="ProtocolViolation">P5.9: its ticket is not the next.</exception>
    public ulong AppendImpulses(BlockPool.Block block, int frameAt, in RunView run, int runBytes, Epoch epoch)
    {
        using (_gate.Enter())
        {
            RunHeader header = run.Header;
            ulong first = _impulses.Take(header.First, header.Count);
            var numbered = header with { Shard = Destination.Shard, Peer = 0, First = first, Hash = epoch.Value };
            _kept.Push(block, frameAt, numbered, runBytes, new ChannelPosition(_impulses.Numbered, 0, MessageKind.Impulse));
            return _impulses.Numbered;
        }
    }

    /// <param name="end">The channel after this run.</param>
    private void Keep(BlockPool.Block block, int frameAt, in RunHeader header, ChannelPosition end, int runBytes)
    {
        ulong first = _known.Number + 1;
        _known = end;
        _kept.Push(block, frameAt, header with { Shard = Destination.Shard, Peer = 0, First = first, Hash = _known.Hash }, runBytes, _known);
    }

    /// <summary>
    /// The peer has the first <paramref name="calls"/> calls and <paramref name="impulses"/> impulses of this epoch durable: sending goes
    /// on behind them; what follows from that is <see cref="ImpulsesDurable"/>'s. Returns how many calls of the entry at the
    /// cursor are to be skipped.
    /// </summary>
    public uint Resume(ulong calls, ulong impulses)
    {
        using (_gate.Enter()) return _kept.Resume(calls, Math.Max(_impulses.Durable, impulses));
    }

    /// <summary>The next entry to send; it is held until <see cref="Release"/>.</summary>
    public bool TryNext(out OutboxEntry entry)
    {
        using (_gate.Enter()) return _kept.TryNext(out entry);
    }

    /// <summary>Gives up an entry that <see cref="TryNext"/> or <see cref="HoldCalls"/> handed out.</summary>
    public void Release(in OutboxEntry entry) => _kept.Release(entry);

    /// <summary>Copies an entry's frame, wherever it is. The caller holds the entry.</summary>
    public void CopyFrame(in OutboxEntry entry, Span<byte> to) => _kept.CopyFrame(entry, to);

    /// <summary>
    /// Impulses up to this number are durable at the peer. Returns the session's ticket of the last one; 0: nothing new to this session.
    /// </summary>
    /// <exception cref="ProtocolViolation">P6.8: more than were sent.</exception>
    public ulong ImpulsesDurable(ulong number)
    {
        using (_gate.Enter())
        {
            if (!_impulses.TryAcknowledge(number)) return 0;
            Release();
            return _impulses.TicketOfDurable;
        }
    }

    /// <summary>Applies a Trim: calls up to <paramref name="number"/> are durable at the receiver and no longer kept.</summary>
    /// <exception cref="DivergenceException">The receiver has more than the app has made again at this place of the log (I8).</exception>
    /// <param name="forgotten">Receivers of this name that were forgotten before this one; a trim of one of them means nothing.</param>
    public void Trim(ulong number, int forgotten = 0)
    {
        using (_gate.Enter())
        {
            if (forgotten != _generation) return;
            if (number > _known.Number) throw DivergenceException.OfTrim(Destination, _known.Number, number);
            _receiver.Stated = Math.Max(_receiver.Stated, number);
            if (number <= _trimmed.Number) return;
            _trimmed = _kept.PositionAt(number, _trimmed);
            Release();
        }
    }

    /// <summary>
    /// The log itself holds these calls, since the sender is their receiver: they are compared with what the app has made, and no longer
    /// kept. Calls that differ stay, so that the first of them can be named.
    /// </summary>
    /// <param name="hash">Of the channel after them, as it was received; null: the log does not say it, as one that is masked.</param>
    /// <exception cref="DivergenceException">The app has made other calls than the log holds (I8).</exception>
    public void TakeReceived(ulong number, ulong? hash)
    {
        using (_gate.Enter())
        {
            if (number > _known.Number) throw DivergenceException.OfTrim(Destination, _known.Number, number);
            if (number < _trimmed.Number) return; // an earlier session of this process was compared there
            ChannelPosition made = _kept.PositionAt(number, _trimmed);
            if (hash is { } received && made.Hash != received)
                throw DivergenceException.OfChannel(Destination, (number, made.Hash), (number, received));
            _receiver.Stated = Math.Max(_receiver.Stated, number);
            _trimmed = made;
            Release();
        }
    }

    /// <summary>The receiver has acknowledged calls up to <paramref name="number"/>.</summary>
    public void Acknowledge(ulong number)
    {
        using (_gate.Enter()) _receiver.Acknowledged = Math.Max(_receiver.Acknowledged, number);
    }

    /// <summary>
    /// Drops what is acknowledged before the app has come to the Trim that will say so: it may be waiting for this very room. Until it has,
    /// no checkpoint can be taken: its outputs would not be those of its place in the log.
    /// </summary>
    /// <param name="isLeaving">A record that forgets the receiver is in the log: nothing here will ever be sent.</param>
    public void TrimEarly(bool isLeaving)
    {
        using (_gate.Enter())
        {
            if (isLeaving)
            {
                _kept.DropAll();
                _trimmed = _known;
            }
            else if (_receiver.Acknowledged > _trimmed.Number)
            {
                _trimmed = _kept.PositionAt(_receiver.Acknowledged, _trimmed);
                Release();
            }
        }
    }

    private void Release() => _kept.Release(_trimmed.Number, _impulses.Durable);

    /// <summary>
    /// The channel's hash after <paramref name="number"/> messages; false when that many were never made or are trimmed already.
    /// </summary>
    public bool TryPositionAt(ulong number, out ChannelPosition position)
    {
        using (_gate.Enter())
        {
            position = default;
            if (number < _trimmed.Number || number > _known.Number) return false;
            position = _kept.PositionAt(number, _trimmed);
            return true;
        }
    }

    /// <summary>
    /// Holds every entry with calls above <paramref name="after"/> and up to <paramref name="last"/>, oldest first, for a checkpoint.
    /// </summary>
    public void HoldCalls(ulong after, ulong last, List<OutboxEntry> into)
    {
        if (last <= after) return; // both may lie inside one entry
        using (_gate.Enter()) _kept.HoldCalls(after, last, into);
    }

    public override string ToString() => $"{Destination}: known {Known.Number}, trimmed {Trimmed.Number}";
}

/// <summary>It says how one outbox is filled, for the operator.</summary>
/// <param name="Known">Number of the last call made.</param>
/// <param name="Trimmed">Number up to which calls are durable at the peer.</param>
/// <param name="KeptBytes">Bytes of runs that wait to be trimmed, in memory or spilled.</param>
internal readonly record struct OutboxStatus(
    InstanceId Destination, ulong Known, ulong Trimmed, ulong Impulses, ulong ImpulsesDurable, long KeptBytes, bool HasUnsent);
