using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Keeps the catalog's entry of a primary as it is now: its own address, and those of the secondaries that answer queries. It owns what was
/// published last, and whether that failed. The catalog's thread calls it.
/// </summary>
/// <param name="calls">They may hang.</param>
/// <param name="address">Says where peers reach this replica.</param>
/// <param name="fail">Ends the process where the name, or the epoch, belongs to somebody else.</param>
internal sealed class CatalogPublisher(
    CoordinatorInputs inputs, ICatalog catalog, BlockingCalls calls, Coordinator parts, Func<string> address, Action<int, string> fail)
{
    /// <summary>The other replicas as they were published last.</summary>
    private IReadOnlyList<ReplicaAddress> _others = [];

    /// <summary>The name of the log's directory, by which the start of a copy is found.</summary>
    private readonly string _place = DirectoryId.Of(inputs.Options.LogDirectory);

    /// <summary>The entry could not be made or published the last time.</summary>
    private bool _isInTrouble;

    /// <summary>Publishes, if this replica is primary.</summary>
    /// <param name="anyhow">Also if no replica has come or gone.</param>
    public void Publish(bool anyhow)
    {
        if (!parts.IsPrimary) return;
        try
        {
            IReadOnlyList<ReplicaAddress> present = calls.Make("listing the replicas",
                () => ReplicaLock.ListAddresses(inputs.Files, inputs.Options.LogDirectory, inputs.Options.Replica));
            if (!anyhow && present.SequenceEqual(_others)) return;
            Crash.Hit("catalog.beforePublish");
            _others = present;
            Judge(catalog.Publish(NewEntry()));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Links that are open need no catalog, and nothing that is acknowledged hangs on who else is there: the next look tries again.
            if (!_isInTrouble) inputs.Logger.PublishFailed(parts.Self, e.Message); // the next one may word it otherwise, and says no more
            _isInTrouble = true;
        }
    }

    private CatalogEntry NewEntry()
    {
        IEnumerable<ReplicaEntry> secondaries = _others.Take(CatalogLimits.ReplicasMax - 1)
            .Select(other => new ReplicaEntry(other.Replica, other.Address, "secondary", parts.Epoch));
        return new CatalogEntry(parts.Self, inputs.Identity.Uuid, inputs.Options.LogDirectory, parts.Epoch,
            [new ReplicaEntry(inputs.Options.Replica, address(), ReplicaEntry.Primary, parts.Epoch), .. secondaries])
        {
            Place = _place,
        };
    }

    private void Judge(PublishResult result)
    {
        switch (result)
        {
            case PublishResult.NameTaken:
                fail(ExitCodes.Misuse, InstanceStart.NameTaken(inputs.Identity, catalog.Find(parts.Self)));
                break;
            case PublishResult.Outdated:
                fail(ExitCodes.NotPrimary,
                    $"the catalog has a higher epoch of {parts.Self} than {parts.Epoch}: another coordinator is its primary, or this log is an old copy");
                break;
            case PublishResult.Published: _isInTrouble = false; break;
        }
    }
}
