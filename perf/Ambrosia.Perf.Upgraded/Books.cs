namespace Ambrosia.Perf;

/// <summary>The books by their second build: a field was renamed, and one is new.</summary>
[AppVersion(2)]
public sealed partial class Books : Immortal<IBooksProxy>, IBooks
{
    private readonly Pages _pages = new();

    [FormerlyNamed("_asked")]
    private long _calls;

    private Planted _planted;

    public int Ask()
    {
        _calls++;
        return 2;
    }

    public void Note(byte[] message)
    {
    }

    public void Hold(int mebibytes) => _pages.Add(mebibytes);

    public long Count() => _calls;

    protected override void OnUpgraded(uint from)
    {
        Faults.Upgraded();
        _planted = new Planted(from);
    }
}
