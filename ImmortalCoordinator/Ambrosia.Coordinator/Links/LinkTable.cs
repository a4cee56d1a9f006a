using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// Which connection to which peer is in use, and whom to call next. Owns the peers' connection state; of one peer at most one
/// connection has its turn at any time. Any thread; one lock; connections are called outside it.
/// </summary>
internal sealed class LinkTable(InstanceId self, Func<Backoff> newBackoff)
{
    private readonly Lock gate = new();
    private readonly Dictionary<InstanceId, PeerState> peers = [];
    private bool isAdmitting;

    private sealed class PeerState(Backoff backoff)
    {
        public PeerLink? Current, Next;
        public readonly Backoff Backoff = backoff;
        public DateTimeOffset DialAt;
        public bool IsDialling, IsStopped, HasWarned;
        public ulong HighestNonce;
        public string? LastEnd;
    }

    /// <summary>The instance is primary: connections may be made and taken.</summary>
    public void Admit()
    {
        lock (gate) isAdmitting = true;
    }

    public bool IsAdmitting { get { lock (gate) return isAdmitting; } }

    private PeerState StateOf(InstanceId peer)
    {
        if (!peers.TryGetValue(peer, out PeerState? state)) peers.Add(peer, state = new PeerState(newBackoff()));
        return state;
    }

    /// <summary>A nonce for a new call to this peer: above all that were seen or used, since the peer may hold an earlier call for open.</summary>
    public ulong NextNonce(InstanceId peer)
    {
        lock (gate)
        {
            PeerState state = StateOf(peer);
            return state.HighestNonce = LinkRank.NonceAfter(state.HighestNonce);
        }
    }

    /// <summary>A connection whose hello was found right. It gets its turn at once, after the older one has ended, or never.</summary>
    public void Offer(PeerLink link)
    {
        PeerLink? turn = null, loser = null;
        lock (gate)
        {
            PeerState state = StateOf(link.Peer!.Value);
            state.HighestNonce = Math.Max(state.HighestNonce, link.Nonce);
            PeerLink? rival = state.Next ?? state.Current;
            if (rival is not null && LinkRank.Compare(link.Rank, rival.Rank) != LinkOrder.Newer) loser = link;
            else if (state.Current is null) turn = state.Current = link;
            else
            {
                loser = state.Next;
                state.Next = link;
                state.Current.Close("a newer connection takes its place");
            }
        }
        loser?.Close("another connection to this peer is newer");
        turn?.TakeTurn();
    }

    public void Opened(PeerLink link)
    {
        lock (gate)
        {
            PeerState state = StateOf(link.Peer!.Value);
            state.Backoff.Reset();
            state.LastEnd = null;
            state.HasWarned = false;
        }
    }

    /// <summary>A connection is over: the one that waited for it gets its turn.</summary>
    public void Ended(PeerLink link, string why)
    {
        if ((link.Peer ?? link.Expected) is not { } peer) return;
        PeerLink? turn = null;
        lock (gate)
        {
            PeerState state = StateOf(peer);
            if (link.Expected is not null) state.IsDialling = false;
            state.LastEnd = why;
            if (state.Next == link) state.Next = null;
            if (state.Current != link) return;
            turn = state.Current = state.Next;
            state.Next = null;
        }
        turn?.TakeTurn();
    }

    /// <summary>No connection to this peer until the operator acts: true the first time.</summary>
    public bool Stop(InstanceId peer)
    {
        lock (gate)
        {
            PeerState state = StateOf(peer);
            bool first = !state.IsStopped;
            state.IsStopped = true;
            return first;
        }
    }

    public PeerLink? OpenLinkTo(InstanceId peer)
    {
        lock (gate) return peers.TryGetValue(peer, out PeerState? state) ? state.Current : null;
    }

    /// <summary>All connections that are in use or wait for their turn.</summary>
    public List<PeerLink> All()
    {
        lock (gate) return [.. peers.Values.SelectMany(static s => new[] { s.Current, s.Next }).OfType<PeerLink>()];
    }

    /// <summary>How each peer's connection is, in the order of their names.</summary>
    public List<LinkNews> News()
    {
        List<(InstanceId Peer, PeerLink? Link, string Idle, string? LastEnd)> states;
        lock (gate)
            states = [.. peers.Select(static p => (p.Key, p.Value.Current, p.Value.IsStopped ? "stopped" : p.Value.IsDialling ? "dialling" : "waiting", p.Value.LastEnd))];
        // A connection's own lock is never taken inside ours: it opens by calling us.
        return [.. states.OrderBy(static s => s.Peer).Select(static s =>
            new LinkNews(s.Peer, s.Link is null ? s.Idle : s.Link.IsOpen ? "open" : "opening", s.Link?.Remote, s.LastEnd))];
    }

    /// <summary>True: this peer is to be called now, and the caller does so; it reports the outcome by <see cref="DialFailed"/> or the link's end.</summary>
    public bool ShouldDial(InstanceId peer, DateTimeOffset now)
    {
        lock (gate)
        {
            if (!isAdmitting || peer == self) return false;
            PeerState state = StateOf(peer);
            if (state.Current is not null || state.IsDialling || state.IsStopped || now < state.DialAt) return false;
            state.IsDialling = true;
            state.DialAt = now + state.Backoff.Next();
            return true;
        }
    }

    /// <summary>Nothing came of a call; true: worth a line, the first since the peer was last reached.</summary>
    public bool DialFailed(InstanceId peer)
    {
        lock (gate)
        {
            PeerState state = StateOf(peer);
            state.IsDialling = false;
            bool first = !state.HasWarned;
            state.HasWarned = true;
            return first;
        }
    }
}
