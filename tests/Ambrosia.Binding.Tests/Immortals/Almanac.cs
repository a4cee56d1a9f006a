namespace Ambrosia.Binding.Tests;

public interface IAlmanac
{
    [MethodId(1)]
    void Note();

    [MethodId(2)]
    void KeepRandom();

    [MethodId(3)]
    void Describe(string what);
}

/// <summary>Writes down what handlers see of the world.</summary>
public sealed partial class Almanac : Immortal<IAlmanacProxy>, IAlmanac
{
    internal readonly List<string> Seen = [];

    internal Random? Kept;

    protected override void OnFirstStart() => Note();

    public void Note() => Seen.Add(FormattableString.Invariant(
        $"{Now:O} {NewGuid()} {Random.Next()} {Random.Next(10)} {Random.NextInt64(-5, 5)} {Random.NextDouble():R}"));

    public void KeepRandom()
    {
        Kept = Random;
        if (ReferenceEquals(Kept, Random)) Seen.Add($"kept {Kept.Next(1000)}");
    }

    public void Describe(string what)
    {
        Logger.Information($"{what} {Costly()}");
        Logger.Warning("plain");
    }

    internal int Formatted { get; private set; }

    internal DateTimeOffset NowOutside => Now;

    internal Guid GuidOutside => NewGuid();

    internal Random RandomOutside => Random;

    private string Costly()
    {
        Formatted++;
        return "text";
    }
}
