namespace Ambrosia.Perf;

/// <summary>Names what happens to a service while a caller calls it every millisecond.</summary>
internal enum UpgradeKind
{
    /// <summary>The primary is killed by kill -9, and a second replica of the same version takes over.</summary>
    Failover,

    /// <summary>A replica with both builds rehearses, takes over and upgrades (--upgrade-to).</summary>
    Replica,

    /// <summary>The primary is asked to go on with the next build (ambrosia upgrade DIR --to).</summary>
    Beside,

    /// <summary>As by a replica, with a conversion that throws behind a rehearsal that has worked.</summary>
    GivenUp,

    /// <summary>As beside, likewise.</summary>
    GivenUpBeside,
}

/// <summary>What one of them made the caller wait.</summary>
/// <param name="PauseMs">The longest time between two answers in it: from the kill, the start of the replica or the command, to a second
/// behind the first answer at its end.</param>
/// <param name="QuietMs">The longest time between two answers in the second before it.</param>
/// <param name="Rehearsed">What the rehearsal said; null: there was none.</param>
internal sealed record UpgradePause(UpgradeKind Kind, double PauseMs, double QuietMs, Rehearsed? Rehearsed);

/// <summary>All pauses with one size of state.</summary>
internal sealed record UpgradePauses(int Mebibytes, IReadOnlyList<UpgradePause> Each)
{
    /// <summary>The same, by kinds.</summary>
    public IReadOnlyList<PauseFigures> Kinds => [.. Enum.GetValues<UpgradeKind>().Select(Of).OfType<PauseFigures>()];

    /// <summary>Null: there are none of that kind.</summary>
    public PauseFigures? Of(UpgradeKind kind) => Each.Where(each => each.Kind == kind).ToList() is { Count: > 0 } some
        ? PauseFigures.Of(kind, some) : null;

    public double? ReplicaByFailover => Of(UpgradeKind.Replica)?.P50Ms / Of(UpgradeKind.Failover)?.P50Ms;

    public double? BesideByReplica => Of(UpgradeKind.Beside)?.P50Ms / Of(UpgradeKind.Replica)?.P50Ms;

    /// <summary>As the tools say it: callers wait for about as long as the rehearsal took, and as long as for a fail-over.</summary>
    public double? ReplicaPredictedByReal =>
        Of(UpgradeKind.Failover) is { } failover ? PredictedByReal(UpgradeKind.Replica, failover.P50Ms) : null;

    /// <summary>Without a fail-over, since there is none.</summary>
    public double? BesidePredictedByReal => PredictedByReal(UpgradeKind.Beside, 0);

    private double? PredictedByReal(UpgradeKind kind, double more)
    {
        List<UpgradePause> some = [.. Each.Where(each => each.Kind == kind && each.Rehearsed is not null)];
        return some.Count == 0 ? null : Median.Of(some, each => (each.Rehearsed!.Ms + more) / each.PauseMs);
    }
}

/// <summary>The pauses of one kind, in milliseconds.</summary>
internal sealed record PauseFigures(
    UpgradeKind Kind, int Count, double P50Ms, double P99Ms, double MaxMs, double QuietP50Ms, double? RehearsedP50Ms,
    long? ImageBytes)
{
    public static PauseFigures Of(UpgradeKind kind, IReadOnlyList<UpgradePause> some)
    {
        double[] sorted = [.. some.Select(static each => each.PauseMs).Order()];
        List<Rehearsed> rehearsed = [.. some.Select(static each => each.Rehearsed).OfType<Rehearsed>()];
        return new PauseFigures(
            kind, sorted.Length, Median.Of(sorted, static each => each), sorted[(int)Math.Ceiling(sorted.Length * 0.99) - 1], sorted[^1],
            Median.Of(some, static each => each.QuietMs),
            rehearsed.Count == 0 ? null : Median.Of(rehearsed, static each => each.Ms), rehearsed.LastOrDefault()?.ImageBytes);
    }
}

/// <summary>Calls a second of the primary beside rehearsals that are refused at their end and repeated, in pairs.</summary>
/// <param name="Beside">Beside the running app; the other one of the pair has nothing beside it.</param>
/// <param name="Replica">On a replica; the other one of the pair has a replica that follows and does not rehearse.</param>
internal sealed record RehearsalCost(
    int Mebibytes, int MessageBytes, int UnderWay, double Seconds, IReadOnlyList<RatePair> Beside, IReadOnlyList<RatePair> Replica);

/// <summary>Two throughputs, one behind the other.</summary>
internal sealed record RatePair(double With, double Without)
{
    public double Ratio => With / Without;

    public static double MedianOf(IReadOnlyList<RatePair> pairs) => Median.Of(pairs, static pair => pair.Ratio);
}

/// <summary>What <c>ambrosia upgrade check --test-upgrade</c> took over a log, from the start of the command to its end.</summary>
/// <param name="ConversionMs">Of that, by its own report, the rehearsal.</param>
/// <param name="ReplaySeconds">Likewise, the execution by both versions side by side.</param>
internal sealed record UpgradeTrialResult(
    long LogBytes, long Messages, int MessageBytes, IReadOnlyList<double> Seconds, double ConversionMs, double ReplaySeconds,
    string Outcome);

/// <summary>What <c>upgrade</c> measured; a part that was not asked for is empty.</summary>
internal sealed record UpgradeResult(IReadOnlyList<UpgradePauses> Pauses, RehearsalCost? Rehearsal, UpgradeTrialResult? Trial)
{
    /// <summary>What the words mean, for whoever reads the file.</summary>
    public string Definition { get; } =
        "A caller outside calls every millisecond whatever is outstanding, with keys. Pause: the longest time between two answers, from the kill, the start of the upgrading replica or the command 'ambrosia upgrade' to a second behind the first answer at its end. All kinds in turn on one log; two builds become each other, each time as a higher version (--app-version). State: half arrays of structs, a quarter byte arrays, a quarter objects with a text. Predicted: what the rehearsal said, and by a replica the p50 of the fail-overs more.";

    /// <summary>Milliseconds that the pause grows by with a mebibyte of state, from the smallest size on.</summary>
    public double? MsPerMebibyte(UpgradePauses of, UpgradeKind kind)
    {
        UpgradePauses least = Pauses.MinBy(static each => each.Mebibytes)!;
        return of.Mebibytes == least.Mebibytes ? null
            : (of.Of(kind)?.P50Ms - least.Of(kind)?.P50Ms) / (of.Mebibytes - least.Mebibytes);
    }

    public IReadOnlyList<PerMebibyte> PerMebibyte =>
        [.. Pauses.SelectMany(each => each.Kinds.Select(kind => (each, kind.Kind, Ms: MsPerMebibyte(each, kind.Kind))))
            .Where(static row => row.Ms is not null).Select(static row => new PerMebibyte(row.each.Mebibytes, row.Kind, row.Ms!.Value))];
}

/// <summary>How much longer a pause is for each mebibyte of state.</summary>
internal sealed record PerMebibyte(int Mebibytes, UpgradeKind Kind, double Ms);
