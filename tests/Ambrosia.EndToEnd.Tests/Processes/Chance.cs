using System.Globalization;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The chance of one test: from AMBROSIA_E2E_SEED, or a new seed, which a failure names.</summary>
internal sealed class Chance
{
    private const string Variable = "AMBROSIA_E2E_SEED";

    private readonly Random _random;

    public Chance()
    {
        Seed = int.TryParse(Environment.GetEnvironmentVariable(Variable), NumberStyles.None, CultureInfo.InvariantCulture, out int seed)
            ? seed : Random.Shared.Next();
        _random = new Random(Seed);
    }

    public int Seed { get; }

    public bool Coin() => _random.Next(2) == 0;

    public int Below(int bound) => _random.Next(bound);

    public byte[] Bytes(int count)
    {
        byte[] bytes = new byte[count];
        _random.NextBytes(bytes);
        return bytes;
    }

    /// <summary>Lets a random time pass. Nothing is waited for: the moment itself is what is tested.</summary>
    public void PassTime(int millisecondsMax) => Thread.Sleep(_random.Next(millisecondsMax));

    public void Shuffle<T>(Span<T> items) => _random.Shuffle(items);

    /// <summary>The command line that repeats a test.</summary>
    public string Again(string filter) =>
        $"{Variable}={Seed} {TestScaleNote}{Cluster.Again(filter)}";

    private static string TestScaleNote =>
        Environment.GetEnvironmentVariable(TestKit.TestScale.Variable) is { Length: > 0 } scale
        ? $"{TestKit.TestScale.Variable}={scale} " : "";
}
