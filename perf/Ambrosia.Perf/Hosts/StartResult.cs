namespace Ambrosia.Perf;

/// <summary>What <c>start</c> measured: pairs of starts, one behind the other.</summary>
/// <param name="With">With an immortal in the process.</param>
/// <param name="Without">The same web application without us.</param>
internal sealed record StartResult(IReadOnlyList<StartedWeb> With, IReadOnlyList<StartedWeb> Without)
{
    /// <summary>How much later the one of each pair is ready than the other; their median.</summary>
    public double ReadyMsMore => More(static each => each.ReadyMs);

    public double AnsweredMsMore => More(static each => each.AnsweredMs);

    public double ReadyMsMoreMax => With.Zip(Without).Max(static pair => pair.First.ReadyMs - pair.Second.ReadyMs);

    private double More(Func<StartedWeb, double> of) => Median.Of(With.Zip(Without), pair => of(pair.First) - of(pair.Second));
}
