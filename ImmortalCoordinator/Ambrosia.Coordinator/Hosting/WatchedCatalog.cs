using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Is the catalog as the threads of a running coordinator use it: each call is known to those who tell operators of calls that hang, and
/// whatever is wrong with the catalog is a failure of I/O, which is tried again, since a primary goes on without one. Any thread; all
/// members block.
/// </summary>
internal sealed class WatchedCatalog(ICatalog catalog, BlockingCalls calls) : ICatalog
{
    private const string Reading = "reading the catalog", Writing = "publishing in the catalog";

    public ReadOnlyMemory<byte> Secret => Make(Reading, () => catalog.Secret);

    public CatalogEntry? Find(InstanceId instance) => Make(Reading, () => catalog.Find(instance));

    public IReadOnlyList<CatalogEntry> All() => Make(Reading, catalog.All);

    public IReadOnlyDictionary<InstanceId, Epoch> Epochs() => Make(Reading, catalog.Epochs);

    public PublishResult Publish(CatalogEntry entry) => Make(Writing, () => catalog.Publish(entry));

    public void Forget(InstanceId instance) => Make(Writing, () =>
    {
        catalog.Forget(instance);
        return true;
    });

    public void CheckSecret() => Make(Reading, () =>
    {
        catalog.CheckSecret();
        return true;
    });

    private T Make<T>(string what, Func<T> call)
    {
        try
        {
            return calls.Make(what, call);
        }
        catch (CatalogException e)
        {
            throw new IOException(e.Message, e);
        }
    }
}
