using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using CRA.Links;

namespace Ambrosia.Coordinator.Links;

/// <summary>Why nothing came of a call to a peer: what an operator would do about it differs.</summary>
internal enum DialFailure
{
    /// <summary>The catalog has an entry of it, and names no primary.</summary>
    NoAddress = 1,

    /// <summary>The catalog has no entry of it.</summary>
    Unlisted,

    /// <summary>Nobody answers there, or not as a peer must.</summary>
    NoAnswer,
}

/// <summary>It says how the connection to one peer is, for the operator.</summary>
/// <param name="State">open · opening (a hello is under way) · dialling · waiting (to dial again) · stopped (until
/// the operator acts).</param>
/// <param name="Remote">The other end of the connection in use.</param>
/// <param name="LastEnd">Why the peer is not called any more, or else why the last connection ended; null since one was opened.</param>
internal readonly record struct PeerStatus(InstanceId Peer, string State, string? Remote, string? LastEnd);

/// <summary>
/// Knows which connection to which peer is in use, and whom to call next. It owns the peers' connection state; of one peer at most one
/// connection has its turn at any time. Any thread; one lock; connections are called outside it. Times are monotonic.
/// </summary>
/// <param name="newBackoff">Makes the pause between calls to one peer.</param>
/// <param name="dial">Hears that a connection is over, and there may be somebody to call.</param>
internal sealed partial class LinkTable(InstanceId self, Func<Backoff> newBackoff, Action dial)
{
    /// <summary>Why an older connection ends when a newer one has come: nothing is wrong.</summary>
    public const string Superseded = "a newer connection takes its place";

    /// <summary>Refusals in a row after which calls rest: a few may come from two connections that cross.</summary>
    private const int RefusalsAtOnce = 3;

    /// <summary>The number of peers without a connection beyond which each is called more seldom, in proportion.</summary>
    private const int CalledAtOnceMax = 500;

    /// <summary>The number of peers at rest that are called once, after each listing that fails.</summary>
    private const int AwakenedMax = 16;

    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_refusedRest = TimeSpan.FromSeconds(10);

    private readonly RankedLock _gate = new(LockRank.LinkTable);
    private readonly Dictionary<InstanceId, PeerState> _peers = [];

    /// <summary>
    /// Peers that a connection is wanted to and that have none, but for those at rest: the only ones that calls are looked for. Each has
    /// the number of listings that had been begun when it came: those say nothing of it.
    /// </summary>
    private readonly Dictionary<InstanceId, int> _unconnected = [];

    /// <summary>
    /// Peers that a connection is wanted to and that the catalog did not list when it was last asked: a listing that has one of them brings
    /// it back, so that thousands of them cost nothing. No peer is here and in <see cref="_unconnected"/>.
    /// </summary>
    private readonly HashSet<InstanceId> _resting = [];

    /// <summary>Peers that rest since a listing did not have them, and of which the operator has not heard.</summary>
    private readonly List<InstanceId> _untold = [];

    /// <summary>The number of listings that were begun.</summary>
    private int _listings;

    /// <summary>The time before which no peer is due, unless one was added or has changed.</summary>
    private TimeSpan _lookAt;

    private readonly DialSlots _slots = new();
    private bool _isAdmitting;

    private sealed class PeerState(Backoff backoff)
    {
        public PeerLink? Current, Next;
        public readonly Backoff Backoff = backoff;
        public TimeSpan DialAt;

        /// <summary>The highest epoch of the peer that was seen in the catalog while there was no connection.</summary>
        public Epoch Published;
        public bool IsDialling;

        /// <summary>Why the peer is not called any more; null: it is.</summary>
        public string? StopReason;

        /// <summary>The trouble that the last line about it told of; null since it was last reached.</summary>
        public DialFailure? Told;
        public ulong HighestNonce;

        /// <summary>The number of hellos refused, here or there, since a connection opened.</summary>
        public int Refusals;

        /// <summary>A message of this length waits that the peer did not take; 0: none.</summary>
        public uint BytesWanted;
        public string? LastEnd;
    }

    /// <summary>The instance is primary: connections may be made and taken.</summary>
    public void Admit()
    {
        using (_gate.Enter()) _isAdmitting = true;
    }

    public bool IsAdmitting { get { using (_gate.Enter()) return _isAdmitting; } }

    private PeerState StateOf(InstanceId peer)
    {
        if (!_peers.TryGetValue(peer, out PeerState? state)) _peers.Add(peer, state = new PeerState(newBackoff()));
        return state;
    }

    /// <summary>
    /// A nonce for a new call to this peer: above all that were seen or used, since the peer may hold an earlier call for open.
    /// </summary>
    public ulong NextNonce(InstanceId peer)
    {
        using (_gate.Enter())
        {
            PeerState state = StateOf(peer);
            return state.HighestNonce = LinkRank.NonceAfter(state.HighestNonce);
        }
    }

    /// <summary>A connection whose hello was found right. It gets its turn at once, after the older one has ended, or never.</summary>
    public void Offer(PeerLink link)
    {
        PeerLink? turn = null, loser = null, superseded = null;
        using (_gate.Enter())
        {
            PeerState state = StateOf(link.Peer!.Value);
            state.HighestNonce = Math.Max(state.HighestNonce, link.Nonce);
            PeerLink? rival = state.Next ?? state.Current;
            if (rival is not null && LinkRank.Compare(link.Rank, rival.Rank) != LinkOrder.Newer) loser = link;
            else if (state.Current is null)
            {
                turn = state.Current = link;
                _resting.Remove(link.Peer!.Value);
            }
            else
            {
                loser = state.Next;
                state.Next = link;
                superseded = state.Current;
            }
        }
        superseded?.Close(Superseded);
        loser?.Close("another connection to this peer is newer");
        turn?.TakeTurn();
    }

    public void Opened(PeerLink link)
    {
        using (_gate.Enter())
        {
            PeerState state = StateOf(link.Peer!.Value);
            state.Backoff.Reset();
            state.LastEnd = null;
            state.StopReason = null;
            state.Told = null;
            state.Refusals = 0;
            state.BytesWanted = 0;
        }
    }

    /// <summary>A connection is over: the one that waited for it gets its turn.</summary>
    public void Ended(PeerLink link, string why)
    {
        Remove(link, why)?.TakeTurn();
        dial();
    }

    /// <summary>Removes a connection and returns the one that has its turn now; null: there is none.</summary>
    private PeerLink? Remove(PeerLink link, string why)
    {
        if ((link.Peer ?? link.Expected) is not { } peer) return null;
        using (_gate.Enter())
        {
            PeerState state = StateOf(peer);
            if (link.Expected is not null) state.IsDialling = false;
            state.LastEnd = why;
            if (state.Next == link) state.Next = null;
            if (state.Current != link) return null;
            state.Current = state.Next;
            state.Next = null;
            if (state.Current is null) Awaken(peer);
            return state.Current;
        }
    }

    /// <summary>The peer is not called any more: only the operator can mend what is wrong. A hello of it that is right ends that.</summary>
    /// <param name="why">What the operator is told of it for as long as it lasts.</param>
    /// <param name="bytesWanted">The message limit that its hello must state at least; 0: any will do.</param>
    public void Stop(InstanceId peer, string why, uint bytesWanted = 0)
    {
        using (_gate.Enter())
        {
            PeerState state = StateOf(peer);
            state.StopReason = why;
            state.BytesWanted = bytesWanted;
        }
    }

    /// <summary>What kept us from calling the peer is over: it is called at once.</summary>
    public void Resume(InstanceId peer)
    {
        using (_gate.Enter())
        {
            PeerState state = StateOf(peer);
            state.StopReason = null;
            state.BytesWanted = 0;
            state.Refusals = 0;
            state.DialAt = default;
            state.Backoff.Reset();
            if (peer != self && state.Current is null) Awaken(peer);
        }
    }

    /// <summary>The message limit that the peer's hello must state at least; 0: any will do.</summary>
    public uint BytesWanted(InstanceId peer)
    {
        using (_gate.Enter()) return _peers.TryGetValue(peer, out PeerState? state) ? state.BytesWanted : 0;
    }

    /// <summary>A hello to or from the peer was refused: after a few in a row it is called more seldom.</summary>
    /// <param name="why">What the operator is shown until a connection opens, or ends otherwise.</param>
    public void Refused(InstanceId peer, TimeSpan now, string why)
    {
        using (_gate.Enter())
        {
            PeerState state = StateOf(peer);
            state.LastEnd = why;
            if (++state.Refusals > RefusalsAtOnce && state.DialAt < now + s_refusedRest) state.DialAt = now + s_refusedRest;
        }
    }

    public PeerLink? OpenLinkTo(InstanceId peer)
    {
        using (_gate.Enter()) return _peers.TryGetValue(peer, out PeerState? state) ? state.Current : null;
    }

    /// <summary>All connections that are in use or wait for their turn.</summary>
    public List<PeerLink> All()
    {
        using (_gate.Enter()) return [.. _peers.Values.SelectMany(static s => new[] { s.Current, s.Next }).OfType<PeerLink>()];
    }

    /// <summary>Says how each peer's connection is, in the order of their names.</summary>
    public List<PeerStatus> Statuses()
    {
        List<(InstanceId Peer, PeerLink? Link, string Idle, string? LastEnd)> states;
        using (_gate.Enter())
            states = [.. _peers.Select(static p =>
                (p.Key, p.Value.Current, p.Value.StopReason is not null ? "stopped" : p.Value.IsDialling ? "dialling" : "waiting",
                    p.Value.StopReason ?? p.Value.LastEnd))];
        // A connection's own lock is never taken inside ours: it opens by calling us.
        return [.. states.OrderBy(static s => s.Peer).Select(static s =>
            new PeerStatus(s.Peer, s.Link is null ? s.Idle : s.Link.IsOpen ? "open" : "opening", s.Link?.Remote, s.LastEnd))];
    }

    /// <summary>A connection to this peer is wanted from now on; true: that is news.</summary>
    public bool Want(InstanceId peer)
    {
        using (_gate.Enter())
        {
            if (peer == self || _resting.Contains(peer) || _unconnected.ContainsKey(peer)) return false;
            return StateOf(peer).Current is null && Awaken(peer);
        }
    }

    /// <summary>Gets whether a connection is wanted to a peer that has none.</summary>
    public bool HasUnconnected { get { using (_gate.Enter()) return _unconnected.Count + _resting.Count > 0; } }

    /// <summary>Gets whether such a peer may be due soon; the others wait until the catalog lists them.</summary>
    public bool HasAwake { get { using (_gate.Enter()) return _unconnected.Count > 0; } }

    /// <summary>
    /// Returns whom to call now, see <see cref="ShouldDial"/>; where not all may be, those that wait the longest. Each holds a slot until
    /// <see cref="Dialled"/>. It costs what the unconnected peers cost, not what all do.
    /// </summary>
    public List<InstanceId> PeersToDial(TimeSpan now)
    {
        var due = new List<InstanceId>();
        using (_gate.Enter())
        {
            if (_unconnected.Count == 0 || now < _lookAt) return due;
            _lookAt = now + (s_lookEvery * (_unconnected.Count / CalledAtOnceMax));
            foreach (InstanceId peer in _unconnected.Keys)
                if (StateOf(peer).Current is not null) _unconnected.Remove(peer); // its end brings it back
                else if (IsDue(peer, now)) due.Add(peer);
            if (due.Count > _slots.Free) due.Sort((a, b) => StateOf(a).DialAt.CompareTo(StateOf(b).DialAt));
            due.RemoveAll(peer => !_slots.TryTake(peer) || !TryBeginDial(peer, now));
        }
        return due;
    }

    /// <summary>
    /// True: this peer is to be called now, and the caller does so; it reports the outcome by <see cref="DialFailed"/> or the link's end.
    /// </summary>
    public bool ShouldDial(InstanceId peer, TimeSpan now)
    {
        using (_gate.Enter()) return TryBeginDial(peer, now);
    }

    /// <summary>The caller holds the lock.</summary>
    private bool TryBeginDial(InstanceId peer, TimeSpan now)
    {
        if (!IsDue(peer, now)) return false;
        PeerState state = StateOf(peer);
        state.IsDialling = true;
        state.DialAt = now + (state.Backoff.Next() * Math.Max(1, _unconnected.Count / (double)CalledAtOnceMax));
        return true;
    }

    private bool IsDue(InstanceId peer, TimeSpan now) =>
        _isAdmitting && peer != self && StateOf(peer) is { Current: null, IsDialling: false, StopReason: null } state && now >= state.DialAt;

    /// <summary>A call of <see cref="PeersToDial"/> is over; true: worth a line, see <see cref="DialFailed"/>.</summary>
    /// <param name="trouble">Null: somebody answered.</param>
    public bool Dialled(InstanceId peer, TimeSpan took, DialFailure? trouble)
    {
        using (_gate.Enter()) _slots.Give(peer, took);
        return trouble is { } failed && DialFailed(peer, failed);
    }

    /// <summary>Nothing came of a call; true: worth a line, the first since the peer was last reached or the trouble changed.</summary>
    public bool DialFailed(InstanceId peer, DialFailure trouble)
    {
        using (_gate.Enter())
        {
            PeerState state = StateOf(peer);
            state.IsDialling = false;
            return trouble == DialFailure.Unlisted && state.Current is null ? Rest(peer, state)
                : IsFirstSaid(state, trouble == DialFailure.Unlisted ? DialFailure.NoAddress : trouble);
        }
    }
}
