namespace Ambrosia.Coordinator;

/// <summary>Connections whose hello waits for a record to become durable: few, and seldom. Any thread.</summary>
internal sealed class AwaitingLinks
{
    private readonly Lock gate = new();
    private readonly List<PeerLink> links = [];

    public void Add(PeerLink link)
    {
        lock (gate) links.Add(link);
    }

    public void Remove(PeerLink link)
    {
        lock (gate) links.Remove(link);
    }

    /// <summary>The log has advanced: they may have their answer.</summary>
    public void Wake()
    {
        if (links.Count == 0) return;
        PeerLink[] all;
        lock (gate) all = [.. links];
        foreach (PeerLink link in all) link.Wake();
    }
}
