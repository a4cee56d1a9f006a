using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Is the catalog as the threads of a running coordinator use it: each call is known to those who tell operators of calls that hang. Any
/// thread; all members block.
/// </summary>
internal sealed class WatchedCatalog(ICatalog catalog, BlockingCalls calls) : ICatalog
{
    private const string Reading = "reading the catalog", Writing = "publishing in the catalog";

    public ReadOnlyMemory<byte> Secret => calls.Make(Reading, () => catalog.Secret);

    public CatalogEntry? Find(InstanceId instance) => calls.Make(Reading, () => catalog.Find(instance));

    public IReadOnlyList<CatalogEntry> All() => calls.Make(Reading, catalog.All);

    public IReadOnlyDictionary<InstanceId, Epoch> Epochs() => calls.Make(Reading, catalog.Epochs);

    public PublishResult Publish(CatalogEntry entry) => calls.Make(Writing, () => catalog.Publish(entry));

    public void Forget(InstanceId instance) => calls.Make(Writing, () =>
    {
        catalog.Forget(instance);
        return true;
    });
}
