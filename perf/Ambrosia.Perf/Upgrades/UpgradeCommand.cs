namespace Ambrosia.Perf;

/// <summary>How much <c>upgrade</c> measures.</summary>
/// <param name="Kinds">Of pauses; none: no pauses are measured.</param>
/// <param name="Mebibytes">Of state; with the first one more rounds are made than with the others.</param>
internal sealed record UpgradePlan(IReadOnlyList<UpgradeKind> Kinds, IReadOnlyList<int> Mebibytes, int Rounds, int RoundsOfOthers)
{
    /// <summary>Pairs of throughputs, each of so long a time; 0: none.</summary>
    public (int Pairs, TimeSpan Each) Rehearsals { get; init; }

    /// <summary>Trials over a log of so many bytes, in messages of so many; 0: none.</summary>
    public (int Number, long LogBytes, int MessageBytes) Trials { get; init; }
}

/// <summary>What <c>upgrade</c> does.</summary>
internal sealed class UpgradeCommand(ClusterOptions cluster)
{
    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public UpgradeResult Run(UpgradePlan plan)
    {
        int sizes = plan.Kinds.Count > 0 ? plan.Mebibytes.Count : 0;
        double part = 1.0 / (sizes + Math.Sign(plan.Rehearsals.Pairs) + Math.Sign(plan.Trials.Number));
        List<UpgradePauses> pauses = [];
        if (plan.Kinds.Count > 0)
            for (int i = 0; i < plan.Mebibytes.Count; i++)
            {
                int mebibytes = plan.Mebibytes[i];
                pauses.Add(InOwnDirectory($"state-{i}", own => new UpgradeRounds(own, plan.Kinds)
                    .Run(mebibytes, mebibytes == plan.Mebibytes[0] ? plan.Rounds : plan.RoundsOfOthers, part)));
            }
        RehearsalCost? rehearsal = plan.Rehearsals is not { Pairs: > 0, Each: var each } ? null
            : InOwnDirectory("rehearsals", own => new RehearsalRounds(own).Run(plan.Mebibytes[0], plan.Rehearsals.Pairs, each, part));
        UpgradeTrialResult? trial = plan.Trials is not { Number: > 0 } trials ? null
            : InOwnDirectory("trial", own => new UpgradeTrialRounds(own)
                .Run(plan.Mebibytes[0], trials.LogBytes, trials.MessageBytes, trials.Number, part));
        return new UpgradeResult(pauses, rehearsal, trial);
    }

    /// <summary>Each part has a catalog of its own, and its logs go when it is over.</summary>
    private T InOwnDirectory<T>(string name, Func<ClusterOptions, T> run)
    {
        string directory = Path.Combine(cluster.Directory, name);
        try
        {
            return run(cluster with { Directory = directory });
        }
        finally
        {
            if (Directory.Exists(directory)) Directory.Delete(directory, recursive: true);
        }
    }
}
