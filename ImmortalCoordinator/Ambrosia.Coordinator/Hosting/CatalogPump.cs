using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Keeps the catalog's entry as it is, and looks there for peers that have become primary anew, which are dialled at once. The catalog
/// may hang, so this has a thread of its own, and nobody waits for it for longer than <see cref="PatienceMax"/>. Any thread may ask.
/// </summary>
/// <param name="publish">Publishes the entry, if this replica is primary; told whether also when no replica has come or gone.</param>
/// <param name="peers">The connections to peers, some of which may be wanted and missing.</param>
/// <param name="dial">Hears that some peer is to be called now.</param>
internal sealed class CatalogPump(
    Action<bool> publish, LinkTable peers, ICatalog catalog, Action dial, Action<int, string> fail) : IDisposable
{
    /// <summary>A primary is not ready before its peers can find it, unless the catalog does not answer for this long.</summary>
    internal static readonly TimeSpan PatienceMax = TimeSpan.FromSeconds(5);

    private const int LookMs = 1000, PublishMs = 5000, PeersMs = 100;

    /// <summary>Looking for peers takes at most this share of one processor's time.</summary>
    private const int RestShare = 10;

    private readonly AutoResetEvent _wake = new(false);
    private readonly RankedLock _gate = new(LockRank.CatalogPump);

    /// <summary>The publication that was asked for and has not been tried; null: there is none. Guarded by the lock.</summary>
    private ManualResetEventSlim? _asked;
    private volatile bool _stopped;

    public void Start() => PumpThread.Start("catalog", Loop, fail);

    /// <summary>Hears that a peer may be wanted and missing.</summary>
    public void Wake() => _wake.Set();

    /// <summary>Publishes the entry as it is now. It returns when that was tried, or when the catalog takes too long.</summary>
    public void PublishNow()
    {
        ManualResetEventSlim asked;
        using (_gate.Enter()) asked = _asked ??= new ManualResetEventSlim(false);
        _wake.Set();
        LockChecks.BeforeWait();
        asked.Wait(PatienceMax);
    }

    private void Loop()
    {
        long now = Environment.TickCount64;
        var (look, publication, rest) = (now, now, PeersMs);
        while (!_stopped)
        {
            LockChecks.BeforeWait();
            _wake.WaitOne(peers.HasUnconnected ? rest : LookMs);
            now = Environment.TickCount64;
            ManualResetEventSlim? asked;
            using (_gate.Enter()) (asked, _asked) = (_asked, null);
            if (asked is not null || now - look >= LookMs)
            {
                bool anyhow = asked is not null || now - publication >= PublishMs;
                look = now;
                if (anyhow) publication = now;
                publish(anyhow);
            }
            asked?.Set();
            long begun = Environment.TickCount64;
            if (PeerCatalog.TakePublished(catalog, peers)) dial();
            rest = (int)Math.Clamp((Environment.TickCount64 - begun) * RestShare, PeersMs, PublishMs);
        }
    }

    public void Dispose()
    {
        _stopped = true;
        _wake.Set();
    }
}
