// Awaits in checkpoints: chains of calls between the two instances, ten at once, in worlds that take checkpoints so often that most have
// suspended handlers in them. Each answer is known beforehand, so one that came twice, never, or to another handler is seen (I16).
namespace Ambrosia.Simulation;

internal static class ChainSum
{
    /// <summary>What a chain of so many calls answers.</summary>
    internal static ulong Of(ulong number, ulong hops) => hops == 0 ? number : 1 + Of(number * 3, hops - 1);
}

public sealed partial class Source
{
    public const ulong Chains = 15, Fan = 10, HopsMax = 4;

    public ulong Chained, WrongChains;

    [NotState]
    private ulong _outside;

    public static ulong ChainsWanted => World.OfThisThread.HasChains ? Chains : 0;

    public async Call Chain()
    {
        for (ulong number = 1; number <= Chains; number++)
        {
            _outside = number;
            var calls = new List<Call<ulong>>();
            for (ulong i = 0; i < Fan; i++) calls.Add(_ledger.PassAsync(number + i, i % (HopsMax + 1)));
            ulong[] answers = await Call.WhenAll(calls);
            for (ulong i = 0; i < Fan; i++)
                if (answers[i] != ChainSum.Of(number + i, i % (HopsMax + 1))) WrongChains++;
            if (World.OfThisThread.Faults.KeepsOutside && _outside != number) WrongChains++;
            Chained++;
        }
    }

    public async Call<ulong> Pass(ulong number, ulong hops) => hops == 0 ? number : 1 + await _ledger.PassAsync(number * 3, hops - 1);
}

public sealed partial class Ledger
{
    private readonly ISourceProxy _source;

    /// <summary>Chains that went through here, each hop once.</summary>
    public ulong Passed;

    public Ledger() => _source = GetProxy<ISource>("source");

    public async Call<ulong> Pass(ulong number, ulong hops)
    {
        Passed++;
        return hops == 0 ? number : 1 + await _source.PassAsync(number * 3, hops - 1);
    }
}

/// <summary>What the world asks of them at its end.</summary>
internal static class ChainOracle
{
    /// <summary>Hops of one round that pass the ledger: of each chain the first, and every second behind it.</summary>
    private static ulong PassesPerRound
    {
        get
        {
            ulong passes = 0;
            for (ulong i = 0; i < Source.Fan; i++) passes += i % (Source.HopsMax + 1) / 2 + 1;
            return passes;
        }
    }

    internal static void Judge(Source source, Ledger ledger)
    {
        if (source.WrongChains != 0 || ledger.Passed != source.Chained * PassesPerRound)
            throw new SimulationFailure(
                $"{source.WrongChains} wrong answers of {source.Chained} rounds of chains, {ledger.Passed} calls of them applied (I16)");
    }
}
