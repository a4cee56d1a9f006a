namespace Ambrosia.Hosting.App;

/// <summary>The next version of the till, which the log of the first one is not for.</summary>
[AppVersion(2)]
public sealed partial class NextTill : Immortal<ITillProxy>, ITill
{
    private long _sum;

    public long Pay(long cents) => _sum += cents;

    public async Call<string> Record(long cents)
    {
        await Delay(TimeSpan.FromMilliseconds(1));
        return $"{cents} noted";
    }

    public long Sum() => _sum;
}
