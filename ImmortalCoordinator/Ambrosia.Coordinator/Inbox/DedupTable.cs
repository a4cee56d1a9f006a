using System.Diagnostics.CodeAnalysis;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Inbox;

/// <summary>
/// Knows who has sent what, at the end of the log: what to drop as a duplicate, what to acknowledge. Origin 0 is the instance itself.
/// It owns the inbound channels; their positions only grow. Any thread; one lock, taken once a run. Records are appended under it where
/// their order is that of the ids, and nothing is ever committed under it: a commit waits for writers who want this lock.
/// </summary>
internal sealed class DedupTable(InstanceId self)
{
    private readonly RankedLock _gate = new(LockRank.DedupTable);
    private readonly List<InboundChannel> _origins = [new InboundChannel(0, self)];
    private readonly Dictionary<InstanceId, InboundChannel> _byName = [];
    private readonly List<InboundChannel> _touched = [];

    /// <summary>The peers that operators have given up; they are never taken again.</summary>
    private readonly HashSet<(InstanceId Name, Guid Uuid)> _forgotten = [];

    /// <summary>Every origin below has a Peer record in the log.</summary>
    private int _firstUnlogged = 1;

    public InboundChannel Self => _origins[0];

    /// <summary>Starts from what the log holds to its end.</summary>
    public void Restore(ReplayState state)
    {
        using (_gate.Enter())
        {
            Self.Restore(state.InputsOf(0));
            foreach (PeerRecord peer in state.Peers)
            {
                InboundChannel origin = Add(peer.Peer, peer.Uuid, peer.Epoch, isKnown: !ReplayState.IsForgotten(peer));
                if (origin.Id != peer.Origin)
                    throw new InvalidOperationException($"peer {peer.Peer} is origin {peer.Origin}, not {origin.Id}");
                origin.Logged = (peer.Epoch, Lsn.Zero);
                origin.Restore(state.InputsOf(peer.Origin));
            }
        }
    }

    private InboundChannel Add(InstanceId instance, Guid uuid, Epoch epoch, bool isKnown = true)
    {
        var origin = new InboundChannel((uint)_origins.Count, instance) { Uuid = uuid, Epoch = epoch };
        _origins.Add(origin);
        origin.IsLeaving = !isKnown;
        if (isKnown) _byName.Add(instance, origin);
        else _forgotten.Add((instance, uuid));
        return origin;
    }

    /// <summary>A claim of this peer was refused because another one of its epoch was seen before.</summary>
    public void RefuseClaim(InboundChannel origin, (Epoch Epoch, ulong Number) claim)
    {
        using (_gate.Enter()) origin.Claims = (origin.Claims.Taken, claim);
    }

    public bool WasForgotten(InstanceId instance, Guid uuid)
    {
        using (_gate.Enter()) return _forgotten.Contains((instance, uuid));
    }

    /// <summary>
    /// An operator gives a peer up: behind the record that <paramref name="tryAppend"/> appends nobody is taken under its name until
    /// <see cref="Forget"/>. It returns null when <paramref name="why"/> says why not, or the log has no room now.
    /// </summary>
    /// <param name="unmet">Logs an instance in the place of one that was called and never met; null: the name was not called.</param>
    public InboundChannel? BeginForget(
        InstanceId instance, Func<ForgetRecord, bool> tryAppend, (Func<uint, Guid> Uuid, TryAppendPeer TryAppend)? unmet, out string? why)
    {
        using (_gate.Enter())
        {
            why = null;
            if (unmet is var (uuid, tryAppendPeer) && instance != Self.Instance && !_byName.ContainsKey(instance)
                && !TryAddUnmet(instance, uuid, tryAppendPeer)) return null;
            if (!_byName.TryGetValue(instance, out InboundChannel? origin)) why = $"the log knows no peer '{instance}': there is nothing to forget.";
            else if (origin.IsLeaving) return origin; // asked for before, and on its way
            else if (origin.Link is not null)
                why = $"{instance} ({origin.Uuid}) is connected, so nothing of it is lost. Stop it first, if it is to be given up.";
            else if (origin.Logged.Epoch == default) why = $"{instance} was never taken: there is nothing to forget.";
            if (why is not null || !tryAppend(new ForgetRecord(origin!.Id, origin.Uuid))) return null;
            origin.IsLeaving = true;
            return origin;
        }
    }

    /// <summary>A Forget record names a peer of the log, so one that never came gets its record first. The caller holds the lock.</summary>
    private bool TryAddUnmet(InstanceId instance, Func<uint, Guid> uuid, TryAppendPeer tryAppend)
    {
        InboundChannel origin = Add(instance, uuid((uint)_origins.Count), new Epoch(1));
        if (TryLogUpTo(origin, tryAppend)) return true;
        _origins.RemoveAt(_origins.Count - 1);
        _byName.Remove(instance);
        return false;
    }

    /// <summary>The app has come to the Forget record: whoever comes next under the name is another instance.</summary>
    public void Forget(InstanceId instance)
    {
        using (_gate.Enter())
        {
            if (!_byName.Remove(instance, out InboundChannel? origin)) return;
            _forgotten.Add((instance, origin.Uuid));
        }
    }

    public InboundChannel? Find(InstanceId instance)
    {
        using (_gate.Enter()) return _byName.GetValueOrDefault(instance);
    }

    /// <summary>Returns the channels of the peers that were not forgotten.</summary>
    public List<InboundChannel> Peers()
    {
        using (_gate.Enter()) return [.. _origins.Skip(1).Where(origin => _byName.GetValueOrDefault(origin.Instance) == origin)];
    }

    /// <summary>
    /// Reads the epoch and the claim that were seen of a peer together: the thread of another connection of it may admit a later one
    /// between two reads, and an epoch with the claim of the next one would be taken for a copy's.
    /// </summary>
    public SeenClaim SeenOf(InboundChannel? origin)
    {
        if (origin is null) return default;
        using (_gate.Enter()) return new SeenClaim(origin.Epoch, origin.Claims.Taken, origin.Claims.Refused);
    }

    public InputPosition DurableOf(InboundChannel origin)
    {
        using (_gate.Enter()) return origin.Durable;
    }

    /// <summary>
    /// The peer of a hello that was found right; lower epochs and other UUIDs of it are refused from now on. False: another connection of
    /// the same name was admitted since this hello was judged, and what is right has changed.
    /// </summary>
    /// <param name="claim">The number that the claim of the epoch has drawn; 0: the peer says none.</param>
    public bool TryAdmit(
        InstanceId instance, Guid uuid, Epoch epoch, [NotNullWhen(true)] out InboundChannel? admitted, [NotNullWhen(false)] out string? why,
        ulong claim = 0)
    {
        using (_gate.Enter())
        {
            InboundChannel origin = _byName.GetValueOrDefault(instance) ?? Add(instance, uuid, epoch);
            why = origin.IsLeaving ? $"{instance} is being forgotten: it is taken again in a moment (P6.3)"
                : uuid != origin.Uuid
                    ? $"{instance} is {uuid}, another connection came with {origin.Uuid} meanwhile: two instances have one name. Give one another name, or stop the one that must not run (P6.3)"
                : epoch < origin.Epoch
                    ? $"{instance} comes with epoch {epoch}, {origin.Epoch} was seen meanwhile: a replaced primary ends by itself (P6.3)"
                : epoch == origin.Epoch && claim != origin.Claims.Taken && claim != 0 && origin.Claims.Taken != 0
                    ? $"{instance} comes with another claim of epoch {epoch} than was seen meanwhile: two processes run on two logs of it. Stop the one that is a copy (P6.12)"
                    : null;
            admitted = why is null ? origin : null;
            if (why is null && (epoch > origin.Epoch || claim != 0)) (origin.Epoch, origin.Claims) = (epoch, (claim, origin.Claims.Refused));
            return why is null;
        }
    }

    /// <summary>
    /// Makes sure that the log states the peer's epoch, with the record that <paramref name="tryAppend"/> appends; a connection that broke
    /// may have appended it already, or not. False: no room in the log now.
    /// </summary>
    public bool TryLog(InboundChannel origin, TryAppendPeer tryAppend, out Lsn end)
    {
        using (_gate.Enter())
        {
            end = origin.Logged.End;
            if (origin.IsLeaving) return false; // its connection was admitted a moment before, and will never be answered
            if (origin.Logged.Epoch == origin.Epoch) return true;
            if (!TryLogUpTo(origin, tryAppend)) return false;
            end = origin.Logged.End;
            return true;
        }
    }

    /// <summary>
    /// Logs a peer, and before it each one with a lower id that is not logged: ids begin in the log in their order (L5.4). The caller holds
    /// the lock.
    /// </summary>
    private bool TryLogUpTo(InboundChannel origin, TryAppendPeer tryAppend)
    {
        for (; _firstUnlogged < origin.Id; _firstUnlogged++)
            if (_origins[_firstUnlogged] is { IsLeaving: false, Logged.Epoch.Value: 0 }
                && !TryLogNow(_origins[_firstUnlogged], tryAppend))
                return false;
        return TryLogNow(origin, tryAppend);
    }

    private static bool TryLogNow(InboundChannel origin, TryAppendPeer tryAppend)
    {
        if (!tryAppend(new PeerRecord(origin.Id, origin.Instance, origin.Uuid, origin.Epoch), out Lsn end)) return false;
        origin.Logged = (origin.Epoch, end);
        return true;
    }

    /// <summary>What is logged of a sender; only its one connection appends, so it holds until that connection's next append.</summary>
    public InputPosition AppendedOf(InboundChannel origin)
    {
        using (_gate.Enter()) return origin.Appended;
    }

    /// <summary>A run of this origin has its place in the log; called before it can become durable.</summary>
    public void Appended(InboundChannel origin, in RunHeader run, Lsn end)
    {
        using (_gate.Enter())
        {
            origin.Append(end, origin.Appended.After(run));
            if (origin.IsTouched) return;
            origin.IsTouched = true;
            _touched.Add(origin);
        }
    }

    /// <summary>The log is durable up to here: every connection whose peer waits for it is added to <paramref name="owed"/>.</summary>
    public void AdvanceDurable(Lsn durable, List<IInboundLink> owed, out bool selfMoved)
    {
        selfMoved = false;
        using (_gate.Enter())
        {
            for (int i = _touched.Count - 1; i >= 0; i--)
            {
                InboundChannel origin = _touched[i];
                InputPosition before = origin.Durable;
                bool more = origin.Advance(durable);
                if (origin.Durable != before && origin.Link is { } link) owed.Add(link);
                selfMoved |= origin == Self && origin.Durable != before;
                if (more) continue;
                origin.IsTouched = false;
                _touched[i] = _touched[^1];
                _touched.RemoveAt(_touched.Count - 1);
            }
        }
    }

    public void Connect(InboundChannel origin, IInboundLink link)
    {
        using (_gate.Enter()) origin.Link = link;
    }

    public void Disconnect(InboundChannel origin, IInboundLink link)
    {
        using (_gate.Enter())
        {
            if (origin.Link == link) origin.Link = null;
        }
    }
}

/// <summary>The highest epoch that was seen of a peer, and its claim (protocol P6.12).</summary>
/// <param name="Number">Of the claim of that epoch; 0: the peer said none.</param>
/// <param name="Refused">The last claim that was refused because another one of its epoch had been taken.</param>
internal readonly record struct SeenClaim(Epoch Epoch, ulong Number, (Epoch Epoch, ulong Number) Refused);

/// <summary>Appends a Peer record; false: no room.</summary>
internal delegate bool TryAppendPeer(PeerRecord record, out Lsn end);
