using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Links;

/// <summary>This part compares the peers that are missed with what the catalog lists: what it does not list is not called.</summary>
internal sealed partial class LinkTable
{
    /// <summary>Hears that the catalog is listed from now on, for <see cref="TakeListing"/>.</summary>
    public void BeginListing()
    {
        using (_gate.Enter()) _listings++;
    }

    /// <summary>
    /// Takes what the catalog lists. A peer that it has in a higher epoch than before is called at once, whatever became of the calls to
    /// the process before; one that it does not have rests. Returns true if a peer is to be called. Peers at rest cost no more than what is
    /// listed.
    /// </summary>
    public bool TakeListing(IReadOnlyDictionary<InstanceId, Epoch> listed)
    {
        bool isAny = false;
        using (_gate.Enter())
        {
            IEnumerable<InstanceId> back = listed.Count <= _resting.Count ? listed.Keys.Where(_resting.Contains)
                : _resting.Where(listed.ContainsKey);
            foreach (InstanceId peer in back.ToArray()) Awaken(peer);
            List<InstanceId> unlisted = [];
            foreach ((InstanceId peer, int since) in _unconnected)
                if (listed.TryGetValue(peer, out Epoch epoch)) isAny |= IsNewer(StateOf(peer), epoch);
                else if (StateOf(peer) is { Current: null, IsDialling: false } && since < _listings) unlisted.Add(peer);
            foreach (InstanceId peer in unlisted)
                if (Rest(peer, StateOf(peer))) _untold.Add(peer);
        }
        return isAny;
    }

    /// <summary>Returns the peers that no listing has, and of which the operator has not heard since they were last reached.</summary>
    public List<InstanceId> TakeUntold()
    {
        using (_gate.Enter())
        {
            if (_untold.Count == 0) return [];
            List<InstanceId> untold = [.. _untold];
            _untold.Clear();
            return untold;
        }
    }

    /// <summary>
    /// The catalog cannot be listed, so that no listing brings back a peer at rest: a few of them are looked up by name, as calls do.
    /// </summary>
    public void MissListing()
    {
        using (_gate.Enter())
            foreach (InstanceId peer in _resting.Take(AwakenedMax).ToArray()) Awaken(peer);
    }

    /// <summary>The caller holds the lock.</summary>
    private bool IsNewer(PeerState state, Epoch epoch)
    {
        if (state.Current is not null || epoch <= state.Published) return false;
        state.Published = epoch;
        state.DialAt = default;
        state.Backoff.Reset();
        _lookAt = default;
        return true;
    }

    /// <summary>The peer is called as soon as it is due. The caller holds the lock.</summary>
    private bool Awaken(InstanceId peer)
    {
        _resting.Remove(peer);
        _lookAt = default;
        return _unconnected.TryAdd(peer, _listings);
    }

    /// <summary>The peer is not called until it is listed; true: worth a line. The caller holds the lock.</summary>
    private bool Rest(InstanceId peer, PeerState state)
    {
        if (_unconnected.Remove(peer)) _resting.Add(peer);
        return IsFirstSaid(state, DialFailure.NoAddress); // what the operator does about it is the same
    }

    private static bool IsFirstSaid(PeerState state, DialFailure trouble)
    {
        bool isFirst = state.Told != trouble;
        state.Told = trouble;
        return isFirst;
    }
}
