using System.Diagnostics.CodeAnalysis;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>It says how much an app's outputs are, since checkpoints are due by them.</summary>
/// <param name="Total">The bytes that this process was given by apps, what a replay made again among them; never less than before.</param>
/// <param name="Spilled">The bytes that are kept on disk for peers, all of which a checkpoint would hold.</param>
internal readonly record struct EmittedBytes(long Total, long Spilled);

/// <summary>
/// All outboxes of the instance, and the running session's table from destination index to outbox. Owns the bound on what they keep.
/// The session's table belongs to the thread that reads the app; the rest may be used by any thread.
/// </summary>
internal sealed class OutboxSet(InstanceId self, ScratchFile scratch, MemoryBudget memory, TimeProvider time)
{
    /// <summary>Destinations of one session are below this (P5.5).</summary>
    private const uint DestinationsMax = 1 << 20;

    private readonly RankedLock _gate = new(LockRank.OutboxSet);
    private readonly Dictionary<InstanceId, Outbox> _byName = [];
    private readonly List<Outbox> _all = [];
    private Outbox?[] _session = new Outbox?[16];

    /// <summary>The channel X→X: no socket, trimmed by its own Run records.</summary>
    public Outbox Self => GetOrAdd(self);

    /// <summary>The receivers that have yet to say what they have.</summary>
    public UnheardReceivers Unheard { get; } = new(time);

    /// <summary>It knows what sessions have emitted before the running one.</summary>
    public FormerOutputs Former => field ??= new FormerOutputs(this);

    /// <summary>The scratch file has reached its limit.</summary>
    public bool IsFull => scratch.IsFull;

    /// <summary>More can be kept in memory.</summary>
    public bool HasMemory => !memory.IsFull;

    /// <summary>Says whether a run of so many bytes can be kept on disk now.</summary>
    /// <param name="isLimited">The scratch file has its limit; without, only the disk's.</param>
    public bool HasDiskFor(Outbox outbox, int runBytes, bool isLimited) => (!isLimited || !scratch.IsFull) && outbox.HasDiskFor(runBytes);

    /// <summary>
    /// Gives up what receivers have acknowledged, before the log says so, and what is for those who are leaving:
    /// for when outputs must wait.
    /// </summary>
    public void MakeRoom(Func<InstanceId, bool> isLeaving)
    {
        foreach (Outbox outbox in InOrder()) outbox.TrimEarly(isLeaving(outbox.Destination));
    }

    /// <summary>
    /// Drops all calls to others: nobody will ever be sent them. Those to oneself are in the log, and are held against it.
    /// </summary>
    public void DropCalls()
    {
        foreach (Outbox outbox in InOrder())
            if (outbox != Self) outbox.TrimEarly(isLeaving: true);
    }

    public long SpilledBytes => scratch.LiveBytes;

    /// <summary>All outboxes in the order of their names, the order in which checkpoints list them.</summary>
    public List<Outbox> InOrder()
    {
        using (_gate.Enter())
        {
            var list = new List<Outbox>(_all);
            list.Sort(static (a, b) => a.Destination.CompareTo(b.Destination));
            return list;
        }
    }

    public Outbox GetOrAdd(InstanceId destination)
    {
        using (_gate.Enter())
        {
            if (_byName.TryGetValue(destination, out Outbox? outbox)) return outbox;
            outbox = new Outbox(destination, (uint)_all.Count, scratch, memory);
            _byName.Add(destination, outbox);
            _all.Add(outbox);
            return outbox;
        }
    }

    public bool TryGet(InstanceId destination, [NotNullWhen(true)] out Outbox? outbox)
    {
        using (_gate.Enter()) return _byName.TryGetValue(destination, out outbox);
    }

    /// <summary>An outbox in no set that never holds anything.</summary>
    public static Outbox Empty() => new(default, 0, null!, null!);

    /// <summary>
    /// Forgets every output: for a secondary, which has sent none and begins again from a checkpoint. Outboxes stay the same objects, since
    /// notes of pages name them.
    /// </summary>
    public void Clear()
    {
        foreach (Outbox outbox in InOrder()) outbox.Clear();
        Former.Clear();
    }

    /// <summary>
    /// A new app session starts to emit from what its checkpoint says; channels that it does not name start from nothing.
    /// </summary>
    /// <param name="generations">How many receivers of a name were forgotten by then; names without are left out.</param>
    public void BeginSession(IReadOnlyDictionary<InstanceId, ChannelPosition> from, IReadOnlyDictionary<InstanceId, int> generations)
    {
        Array.Clear(_session);
        foreach (Outbox outbox in InOrder())
        {
            outbox.SessionIndex = -1;
            outbox.BeginSession(from.GetValueOrDefault(outbox.Destination), generations.GetValueOrDefault(outbox.Destination));
        }
    }

    /// <exception cref="ProtocolViolation">P5.5.</exception>
    public Outbox Declare(uint index, InstanceId destination)
    {
        if (index >= DestinationsMax) throw new ProtocolViolation("P5.5", $"destination index {index}");
        if (index >= _session.Length) Array.Resize(ref _session, (int)Math.Max(index + 1, (uint)_session.Length * 2));
        if (_session[index] is { } taken && taken.Destination != destination)
            throw new ProtocolViolation("P5.5", $"destination {index} is {taken.Destination} and cannot become {destination}");
        Outbox outbox = GetOrAdd(destination);
        if (outbox.SessionIndex < 0) outbox.SessionIndex = index;
        return _session[index] = outbox;
    }

    /// <exception cref="ProtocolViolation">P5.13.</exception>
    public Outbox Declared(uint index) =>
        index < (uint)_session.Length && _session[index] is { } outbox ? outbox
        : throw new ProtocolViolation("P5.13", $"run to destination {index}, which was not declared");

    /// <summary>The running session's index of a destination: what ImpulseLogged names.</summary>
    public bool TryIndexOf(Outbox outbox, out uint index)
    {
        long declared = outbox.SessionIndex;
        index = (uint)Math.Max(declared, 0);
        return declared >= 0;
    }
}
