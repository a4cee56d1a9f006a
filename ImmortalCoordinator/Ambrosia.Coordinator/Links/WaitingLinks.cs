using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Links;

/// <summary>It owns connections that wait for something to be woken by. Any thread; they are woken outside the lock.</summary>
internal sealed class WaitingLinks
{
    private readonly RankedLock _gate = new(LockRank.WaitingLinks);
    private readonly HashSet<PeerLink> _links = [];

    public void Add(PeerLink link)
    {
        using (_gate.Enter()) _links.Add(link);
    }

    public void Remove(PeerLink link)
    {
        using (_gate.Enter()) _links.Remove(link);
    }

    /// <summary>What they wait for may have come: each looks, and is removed when it has.</summary>
    public void Wake() => Wake(release: false);

    /// <summary>They have waited long enough.</summary>
    public void Release() => Wake(release: true);

    private void Wake(bool release)
    {
        if (_links.Count == 0) return;
        PeerLink[] all;
        using (_gate.Enter())
        {
            all = [.. _links];
            if (release) _links.Clear();
        }
        foreach (PeerLink link in all) link.Wake();
    }
}
