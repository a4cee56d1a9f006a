namespace Ambrosia.Coordinator.Links;

/// <summary>It owns connections that wait for something to be woken by. Any thread; they are woken outside the lock.</summary>
internal sealed class WaitingLinks
{
    private readonly Lock _gate = new();
    private readonly HashSet<PeerLink> _links = [];

    public void Add(PeerLink link)
    {
        lock (_gate) _links.Add(link);
    }

    public void Remove(PeerLink link)
    {
        lock (_gate) _links.Remove(link);
    }

    /// <summary>What they wait for may have come: each looks, and is removed when it has.</summary>
    public void Wake() => Wake(release: false);

    /// <summary>They have waited long enough.</summary>
    public void Release() => Wake(release: true);

    private void Wake(bool release)
    {
        if (_links.Count == 0) return;
        PeerLink[] all;
        lock (_gate)
        {
            all = [.. _links];
            if (release) _links.Clear();
        }
        foreach (PeerLink link in all) link.Wake();
    }
}
