using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>
/// What rehearsals cost the primary: its throughput beside one that is refused at its end, and so repeated again and again, in turn with
/// the same without it. An upgrade that works rehearses three times.
/// </summary>
internal sealed class RehearsalRounds(ClusterOptions options)
{
    private const int MessageBytes = 64, UnderWay = 256;

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public RehearsalCost Run(int mebibytes, int pairs, TimeSpan each, double part)
    {
        using var service = new BooksService(options, mebibytes);
        using var caller = new PipelinedCaller(options, BooksService.Instance, MessageBytes, UnderWay);
        caller.Run(each); // what is compiled now is compiled in no pair
        var beside = new List<RatePair>();
        var replica = new List<RatePair>();
        for (int i = 0; i < pairs; i++)
        {
            beside.Add(Pair(i, () => Beside(service, caller, each), () => Settled(caller, each)));
            replica.Add(Pair(
                i, () => BesideMember(service, service.AddRefused, caller, each),
                () => BesideMember(service, service.AddStandby, caller, each)));
            options.Advance(part / pairs);
            options.Report($"rehearsals, pair {i + 1} of {pairs}: beside {beside[^1].Ratio:F3}, on a replica {replica[^1].Ratio:F3}");
        }
        return new RehearsalCost(mebibytes, MessageBytes, UnderWay, each.TotalSeconds, beside, replica);
    }

    private static RatePair Pair(int number, Func<double> with, Func<double> without)
    {
        if (number % 2 == 0)
        {
            double first = with();
            return new RatePair(first, without());
        }
        double other = without();
        return new RatePair(with(), other);
    }

    /// <summary>A process that was just started compiles what it executes; that is not a rehearsal's cost.</summary>
    private static double Settled(PipelinedCaller caller, TimeSpan each)
    {
        caller.Run(each / 2);
        return caller.Run(each);
    }

    private static double Beside(BooksService service, PipelinedCaller caller, TimeSpan each)
    {
        using Process rehearsing = service.BeginRefusedBeside();
        try
        {
            return Settled(caller, each);
        }
        finally
        {
            service.EndRefusedBeside(rehearsing);
        }
    }

    private static double BesideMember(BooksService service, Func<Member> add, PipelinedCaller caller, TimeSpan each)
    {
        Member second = add();
        try
        {
            return Settled(caller, each);
        }
        finally
        {
            service.End(second);
        }
    }
}
