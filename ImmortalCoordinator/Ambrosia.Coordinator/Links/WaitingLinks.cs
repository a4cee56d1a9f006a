namespace Ambrosia.Coordinator;

/// <summary>Connections that wait for something to be woken by. Any thread; they are woken outside the lock.</summary>
internal sealed class WaitingLinks
{
    private readonly Lock gate = new();
    private readonly HashSet<PeerLink> links = [];

    public void Add(PeerLink link)
    {
        lock (gate) links.Add(link);
    }

    public void Remove(PeerLink link)
    {
        lock (gate) links.Remove(link);
    }

    /// <summary>What they wait for may have come: each looks, and is removed when it has.</summary>
    public void Wake() => Wake(release: false);

    /// <summary>They have waited long enough.</summary>
    public void Release() => Wake(release: true);

    private void Wake(bool release)
    {
        if (links.Count == 0) return;
        PeerLink[] all;
        lock (gate)
        {
            all = [.. links];
            if (release) links.Clear();
        }
        foreach (PeerLink link in all) link.Wake();
    }
}
