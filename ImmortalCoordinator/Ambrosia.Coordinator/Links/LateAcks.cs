namespace Ambrosia.Coordinator;

/// <summary>
/// Connections that owe an acknowledgement of few calls: nobody waits for it, so it goes with whatever is said next, or at the next tick.
/// With many peers in a page that is one message to each now and then instead of one to each a page. Any thread.
/// </summary>
internal sealed class LateAcks
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

    /// <summary>A tick: they have waited long enough.</summary>
    public void Release()
    {
        PeerLink[] all;
        lock (gate)
        {
            if (links.Count == 0) return;
            all = [.. links];
            links.Clear();
        }
        foreach (PeerLink link in all) link.Wake();
    }
}
