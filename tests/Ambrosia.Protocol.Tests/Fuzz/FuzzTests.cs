using Xunit.Abstractions;

namespace Ambrosia.Protocol.Tests;

/// <summary>Hostile input. AMBROSIA_FUZZ_SEED repeats a run; AMBROSIA_FUZZ_ROUNDS makes it longer.</summary>
public sealed class FuzzTests(ITestOutputHelper output)
{
    private static readonly int s_seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int seed) ? seed
        : Random.Shared.Next();
    private static readonly int s_rounds = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_ROUNDS"), out int rounds)
        ? rounds : 1;

    [Fact]
    public void Decoders_MutatedVectors_OnlyRefuseByTypeAndReadBackWhatTheyAccept() =>
        AssertNone(FuzzWalk.Mutants(VectorFiles.All, AllStructures.ByName, s_seed, mutantsEach: 60 * s_rounds));

    [Fact]
    public void Decoders_Noise_OnlyRefuseByTypeAndReadBackWhatTheyAccept() =>
        AssertNone(FuzzWalk.Noise(AllStructures.ByName, VectorFiles.All, s_seed, inputsEach: 500 * s_rounds));

    private void AssertNone(List<string> findings)
    {
        output.WriteLine($"AMBROSIA_FUZZ_SEED={s_seed} dotnet test tests/Ambrosia.Protocol.Tests --filter FuzzTests");
        Assert.True(findings.Count == 0, $"AMBROSIA_FUZZ_SEED={s_seed}\n{string.Join('\n', findings.Take(10))}");
    }
}
