namespace Ambrosia.Perf;

/// <summary>
/// The books by their first build; the second one is Ambrosia.Perf.Upgraded, which has another name for a field, and one more. Upgrades go
/// from either to the other, each time to a higher version.
/// </summary>
[AppVersion(1)]
public sealed partial class Books : Immortal<IBooksProxy>, IBooks
{
    private readonly Pages _pages = new();

    [FormerlyNamed("_calls")]
    private long _asked;

    public int Ask()
    {
        _asked++;
        return 1;
    }

    public void Note(byte[] message)
    {
    }

    public void Hold(int mebibytes) => _pages.Add(mebibytes);

    public long Count() => _asked;
}
