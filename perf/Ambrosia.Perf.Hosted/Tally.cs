namespace Ambrosia.Perf;

/// <summary>The immortal behind the web application whose start is measured.</summary>
public sealed partial class Tally : Immortal<ITallyProxy>, ITally
{
    private long _sum;

    public long Add(long amount) => _sum += amount;
}
