using System.Diagnostics.CodeAnalysis;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Step 4 of a call: the outputs of one channel. Numbers them, hashes them, keeps them until they are trimmed (<see cref="KeptRuns"/>), and
/// compares what a restarted app emits again with what is known. Impulses to the same instance stand between the calls in the order of
/// emission. Owns the channel's positions. Invariant: trimmed ≤ emitted ≤ known, and known − trimmed = the kept runs' calls. Any thread;
/// one lock, taken once a run.
/// </summary>
internal sealed class Outbox(InstanceId destination, uint index, ScratchFile scratch, MemoryBound memory)
{
    private readonly Lock gate = new();
    private readonly KeptRuns kept = new(destination, scratch, memory);

    /// <summary>The last numbered output there is.</summary>
    private ChannelPosition known;

    /// <summary>Where the running app session is; behind known while it replays.</summary>
    private ChannelPosition emitted;

    /// <summary>Durable at the receiver, as of the Trim records that have been applied (I3).</summary>
    private ChannelPosition trimmed;

    /// <summary>Impulses of this epoch: numbered here, durable there.</summary>
    private ulong impulsesNumbered, impulsesDurable;

    /// <summary>What is added to the session's ticket to make the number; negative once a receiver was forgotten in its course.</summary>
    private long ticketBase;

    /// <summary>
    /// How many receivers of this name were forgotten: where the outbox is, and where the running session is; emitted ≤ kept.
    /// </summary>
    private int generation, emittedGeneration;

    public InstanceId Destination { get; } = destination;

    /// <summary>Dense number of this outbox in its set.</summary>
    public uint Index { get; } = index;

    /// <summary>Calls emitted up to the last digest position; of the thread that reads the app.</summary>
    public ulong DigestedCount { get; set; }

    /// <summary>
    /// Calls that the receiver has acknowledged, and that the log has stated as durable there where the app is; stated ≤ acknowledged,
    /// but for what was restored.
    /// </summary>
    private ulong acknowledged, stated;

    /// <summary>Something was emitted since the last digest position; of the thread that reads the app.</summary>
    public bool IsUndigested { get; set; }

    /// <summary>Index by which the running session's app declared this destination; -1: it has not.</summary>
    public long SessionIndex { get => Volatile.Read(ref sessionIndex); set => Volatile.Write(ref sessionIndex, value); }

    private long sessionIndex = -1;

    private int isInRound;

    /// <summary>False: it waits in the round of outputs already (<see cref="OutputRound"/>).</summary>
    public bool TryJoinRound() => Interlocked.Exchange(ref isInRound, 1) == 0;

    /// <summary>With a fence: what was appended before somebody found it in the round is seen by whoever sends after this.</summary>
    public void LeaveRound() => Interlocked.Exchange(ref isInRound, 0);

    /// <summary>
    /// Timestamp of the last acknowledgement that went beyond <see cref="Trimmed"/>; what is trimmed was acknowledged no later.
    /// </summary>
    public long AckedAt { get => Volatile.Read(ref ackedAt); set => Volatile.Write(ref ackedAt, value); }

    private long ackedAt = long.MinValue;

    public ChannelPosition Known { get { lock (gate) return known; } }

    public ChannelPosition Emitted { get { lock (gate) return emitted; } }

    public ChannelPosition Trimmed { get { lock (gate) return trimmed; } }

    /// <summary>
    /// What the log has stated as durable at the receiver; <see cref="Trimmed"/> is beyond it where that was dropped early.
    /// </summary>
    public ulong Stated { get { lock (gate) return stated; } }

    public bool HasUnsent { get { lock (gate) return kept.HasUnsent; } }

    /// <summary>How many receivers of this name were forgotten before the calls that are in here.</summary>
    public int Generation { get { lock (gate) return generation; } }

    public ulong ImpulsesNumbered { get { lock (gate) return impulsesNumbered; } }

    public OutboxNews News
    {
        get
        {
            lock (gate)
                return new OutboxNews(Destination, known.Number, trimmed.Number, impulsesNumbered, impulsesDurable, kept.Bytes,
                    kept.HasUnsent);
        }
    }

    /// <summary>Takes over how many receivers of this name a checkpoint says were forgotten.</summary>
    public void RestoreGeneration(int forgotten)
    {
        lock (gate) generation = emittedGeneration = forgotten;
    }

    /// <summary>Takes over what a checkpoint says of this channel, before any append.</summary>
    public void Restore(ChannelPosition known, ChannelPosition trimmed)
    {
        lock (gate)
        {
            this.known = this.trimmed = trimmed;
            stated = trimmed.Number;
            emitted = known;
            restoring = known;
        }
    }

    /// <summary>Forgets every output and every number; nothing of this channel has been sent.</summary>
    public void Clear()
    {
        lock (gate)
        {
            if (impulsesNumbered > 0)
                throw new InvalidOperationException($"the outbox to {Destination} has numbered impulses and cannot begin again");
            kept.Clear();
            known = emitted = trimmed = restoring = default;
            generation = emittedGeneration = 0;
            acknowledged = stated = 0;
        }
    }

    private ChannelPosition restoring;

    /// <summary>Takes back one untrimmed run of a checkpoint, in order.</summary>
    public void RestoreRun(BlockPool.Block block, int frameAt, ReadOnlySpan<byte> run)
    {
        RunView view = RunView.Read(run);
        if (kept.IsMemoryFull && !HasDiskFor(run.Length))
            throw new IOException(
                $"the disk has no room for the outputs to {Destination} that the checkpoint holds: free some, and start again");
        lock (gate) Keep(block, frameAt, view.Header, known.After(view.Header.Kind, view.Messages, view.Header.Count), run.Length);
    }

    /// <summary>All runs of the checkpoint are back: they must end where it says.</summary>
    public void RestoreDone()
    {
        if (known != restoring)
            throw new InvalidOperationException($"the checkpoint's outbox to {Destination} ends at {known}, its table says {restoring}");
    }

    /// <summary>A new app session begins to emit from <paramref name="from"/>: what follows up to known is compared, not kept.</summary>
    /// <param name="forgotten">Receivers of this name that were forgotten before that.</param>
    public void BeginSession(ChannelPosition from, int forgotten = 0)
    {
        lock (gate)
        {
            if (forgotten > generation || (forgotten == generation && from.Number > known.Number))
                throw new InvalidOperationException($"a session to {Destination} begins at {from.Number}, beyond {known.Number}");
            emitted = from;
            emittedGeneration = forgotten;
            ticketBase = (long)impulsesNumbered;
        }
    }

    /// <summary>
    /// The app stands where the log forgets the receiver (log-format L5.14): what was for it is dropped, calls and impulses, and the
    /// channel begins anew. Returns how many calls that were not trimmed are gone; null: the app was here before, and only comes by again.
    /// </summary>
    /// <exception cref="DivergenceException">The app has not emitted what it emitted before (I8).</exception>
    public ulong? Cut()
    {
        lock (gate)
        {
            bool isFirst = emittedGeneration == generation;
            if (isFirst && emitted != known) throw DivergenceException.OfChannel(Destination, emitted, known);
            emittedGeneration++;
            emitted = default;
            if (!isFirst) return null;
            ulong dropped = known.Number - Math.Min(known.Number, Math.Max(stated, acknowledged));
            kept.Clear();
            generation++;
            known = trimmed = default;
            acknowledged = stated = 0;
            ticketBase -= (long)impulsesNumbered;
            impulsesNumbered = impulsesDurable = 0;
            AckedAt = long.MinValue;
            return dropped;
        }
    }

    /// <summary>Whether a run of so many bytes can be kept on disk now; what cannot stays in memory when it comes all the same.</summary>
    public bool HasDiskFor(int runBytes) => kept.HasDiskFor(runBytes);

    /// <summary>
    /// Takes the run in <paramref name="frame"/> (16 bytes of frame header, run header, extensions, messages) of the block.
    /// False: it was emitted before and is dropped.
    /// </summary>
    /// <exception cref="DivergenceException">What is emitted again differs from what was emitted before (I8).</exception>
    public bool Append(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
    {
        lock (gate)
        {
            ChannelPosition after = emitted.After(run.Header.Kind, run.Messages, run.Header.Count);
            if (emittedGeneration < generation) { emitted = after; return false; } // for one that was forgotten since
            if (emitted.Number >= known.Number)
            {
                emitted = after;
                Keep(block, frameAt, run.Header, after, runBytes);
                return true;
            }
            return AppendReplayed(block, frameAt, run, runBytes, after);
        }
    }

    private bool AppendReplayed(BlockPool.Block block, int frameAt, in RunView run, int runBytes, ChannelPosition after)
    {
        if (after.Number < known.Number) { emitted = after; return false; }
        uint old = (uint)(known.Number - emitted.Number);
        int oldBytes = Messages.Skip(run.Messages, old);
        emitted = emitted.After(run.Header.Kind, run.Messages[..oldBytes], old);
        if (emitted != known) throw DivergenceException.OfChannel(Destination, emitted, known);
        if (old == run.Header.Count) return false;

        // The new rest becomes a frame of its own: its headers and extensions move up over messages that are known.
        Span<byte> frame = block.Bytes.AsSpan(frameAt, FrameHeader.Bytes + runBytes);
        int front = FrameHeader.Bytes + RunHeader.Bytes + (int)run.Header.ExtensionBytes;
        frame[..front].CopyTo(frame[oldBytes..]);
        RunHeader rest = run.Header with { Count = run.Header.Count - old };
        emitted = emitted.After(rest.Kind, run.Messages[oldBytes..], rest.Count);
        Keep(block, frameAt + oldBytes, rest, emitted, runBytes - oldBytes);
        return true;
    }

    /// <summary>Takes a run of impulses; returns the number of its last one.</summary>
    /// <exception cref="ProtocolViolation">P5.9: its ticket is not the next.</exception>
    public ulong AppendImpulses(BlockPool.Block block, int frameAt, in RunView run, int runBytes, Epoch epoch)
    {
        lock (gate)
        {
            RunHeader header = run.Header;
            if ((ulong)ticketBase + header.First != impulsesNumbered + 1)
                throw new ProtocolViolation("P5.9",
                    $"impulse with ticket {header.First} where {impulsesNumbered - (ulong)ticketBase + 1} is next");
            impulsesNumbered += header.Count;
            var numbered = header with
            {
                Shard = Destination.Shard, Peer = 0, First = impulsesNumbered - header.Count + 1, Hash = epoch.Value
            };
            kept.Push(block, frameAt, numbered, runBytes, new ChannelPosition(impulsesNumbered, 0, MessageKind.Impulse));
            return impulsesNumbered;
        }
    }

    /// <param name="end">The channel after this run.</param>
    private void Keep(BlockPool.Block block, int frameAt, in RunHeader header, ChannelPosition end, int runBytes)
    {
        ulong first = known.Number + 1;
        known = end;
        kept.Push(block, frameAt, header with { Shard = Destination.Shard, Peer = 0, First = first, Hash = known.Hash }, runBytes, known);
    }

    /// <summary>
    /// The peer has the first <paramref name="calls"/> calls and <paramref name="impulses"/> impulses of this epoch durable: sending goes
    /// on behind them; what follows from that is <see cref="ImpulsesDurable"/>'s. Returns how many calls of the entry at the
    /// cursor are to be skipped.
    /// </summary>
    public uint Resume(ulong calls, ulong impulses)
    {
        lock (gate) return kept.Resume(calls, Math.Max(impulsesDurable, impulses));
    }

    /// <summary>The next entry to send; it is held until <see cref="Let"/>.</summary>
    public bool TryNext(out OutboxEntry entry)
    {
        lock (gate) return kept.TryNext(out entry);
    }

    /// <summary>Gives up an entry that <see cref="TryNext"/> or <see cref="HoldCalls"/> handed out.</summary>
    public void Let(in OutboxEntry entry) => kept.Let(entry);

    /// <summary>Copies an entry's frame, wherever it is. The caller holds the entry.</summary>
    public void CopyFrame(in OutboxEntry entry, Span<byte> to) => kept.CopyFrame(entry, to);

    /// <summary>
    /// Impulses up to this number are durable at the peer. Returns the session's ticket of the last one; 0: nothing new to this session.
    /// </summary>
    /// <exception cref="ProtocolViolation">P6.8: more than were sent.</exception>
    public ulong ImpulsesDurable(ulong number)
    {
        lock (gate)
        {
            if (number > impulsesNumbered) throw new ProtocolViolation("P6.8", $"{number} impulses acknowledged of {impulsesNumbered}");
            if (number <= impulsesDurable) return 0;
            impulsesDurable = number;
            Release();
            return (long)impulsesDurable > ticketBase ? impulsesDurable - (ulong)ticketBase : 0;
        }
    }

    /// <summary>Applies a Trim: calls up to <paramref name="number"/> are durable at the receiver and no longer kept.</summary>
    /// <exception cref="DivergenceException">The receiver has more than the app has made again at this place of the log (I8).</exception>
    /// <param name="forgotten">Receivers of this name that were forgotten before this one; a trim of one of them means nothing.</param>
    public void Trim(ulong number, int forgotten = 0)
    {
        lock (gate)
        {
            if (forgotten != generation) return;
            if (number > known.Number) throw DivergenceException.OfTrim(Destination, known.Number, number);
            stated = Math.Max(stated, number);
            if (number <= trimmed.Number) return;
            trimmed = kept.PositionAt(number, trimmed);
            Release();
        }
    }

    /// <summary>The receiver has acknowledged calls up to <paramref name="number"/>.</summary>
    public void Acknowledge(ulong number)
    {
        lock (gate) acknowledged = Math.Max(acknowledged, number);
    }

    /// <summary>
    /// Drops what is acknowledged before the app has come to the Trim that will say so: it may be waiting for this very room. Until it has,
    /// no checkpoint can be taken: its outputs would not be those of its place in the log.
    /// </summary>
    /// <param name="isLeaving">A record that forgets the receiver is in the log: nothing here will ever be sent.</param>
    public void TrimEarly(bool isLeaving)
    {
        lock (gate)
        {
            if (isLeaving)
            {
                kept.DropAll();
                trimmed = known;
            }
            else if (acknowledged > trimmed.Number)
            {
                trimmed = kept.PositionAt(acknowledged, trimmed);
                Release();
            }
        }
    }

    private void Release() => kept.Release(trimmed.Number, impulsesDurable);

    /// <summary>
    /// The channel's hash after <paramref name="number"/> messages; false when that many were never made or are trimmed already.
    /// </summary>
    public bool TryPositionAt(ulong number, out ChannelPosition position)
    {
        lock (gate)
        {
            position = default;
            if (number < trimmed.Number || number > known.Number) return false;
            position = kept.PositionAt(number, trimmed);
            return true;
        }
    }

    /// <summary>
    /// Holds every entry with calls above <paramref name="after"/> and up to <paramref name="last"/>, oldest first, for a checkpoint.
    /// </summary>
    public void HoldCalls(ulong after, ulong last, List<OutboxEntry> into)
    {
        if (last <= after) return; // both may lie inside one entry
        lock (gate) kept.HoldCalls(after, last, into);
    }

    public override string ToString() => $"{Destination}: known {Known.Number}, trimmed {Trimmed.Number}";
}
