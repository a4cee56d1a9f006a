using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>Pauses that a steady caller sees: the kinds in turn, round by round, on one log.</summary>
internal sealed class UpgradeRounds(ClusterOptions options, IReadOnlyList<UpgradeKind> kinds)
{
    private static readonly TimeSpan s_quiet = TimeSpan.FromSeconds(1), s_warmUp = TimeSpan.FromSeconds(2);

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public UpgradePauses Run(int mebibytes, int rounds, double part)
    {
        using var service = new BooksService(options, mebibytes);
        using SteadyCaller caller = SteadyCaller.Start(options, BooksService.Instance);
        caller.AwaitAnswers(Stopwatch.GetTimestamp(), s_warmUp);
        var found = new List<UpgradePause>();
        for (int i = 0; i < rounds; i++)
        {
            foreach (UpgradeKind kind in i % 2 == 0 ? kinds : kinds.Reverse()) found.Add(Run(service, caller, kind));
            options.Advance(part / rounds);
            options.Report(
                $"{mebibytes} MiB, round {i + 1} of {rounds}: {string.Join(", ", found.TakeLast(kinds.Count).Select(static each => $"{each.Kind} {each.PauseMs:F0} ms"))}");
        }
        service.RequireCount(caller.End());
        return new UpgradePauses(mebibytes, found);
    }

    private UpgradePause Run(BooksService service, SteadyCaller caller, UpgradeKind kind)
    {
        options.Stop.ThrowIfCancellationRequested();
        if (IsFault(kind) && service.Build != BooksBuild.First) service.UpgradeBeside(); // the faults are the second build's
        Member? second = kind == UpgradeKind.Failover ? service.AddStandby() : null;
        long rest = Stopwatch.GetTimestamp();
        caller.AwaitAnswers(rest, s_quiet);
        double quiet = caller.LongestMs(rest, Stopwatch.GetTimestamp()); // now, since what comes next begins with an answer of this time
        long begun = Stopwatch.GetTimestamp();
        Rehearsed? rehearsed = null;
        switch (kind)
        {
            case UpgradeKind.Failover: service.KillPrimary(second!); break;
            case UpgradeKind.Replica: rehearsed = service.UpgradeByReplica(); break;
            case UpgradeKind.Beside: rehearsed = service.UpgradeBeside(); break;
            case UpgradeKind.GivenUp: rehearsed = service.GiveUpByReplica(); break;
            case UpgradeKind.GivenUpBeside: rehearsed = service.GiveUpBeside(); break;
        }
        long over = caller.AwaitAnswers(Stopwatch.GetTimestamp(), s_quiet);
        int switches = caller.Switches(begun, over);
        // An answer that was kept for its key is of the build before, and may be heard of behind newer ones.
        if (kind == UpgradeKind.Failover || IsFault(kind) ? switches != 0 : switches % 2 == 0)
            throw new FailedRoundException($"in {kind} the build that answers changed {switches} times");
        var pause = new UpgradePause(kind, caller.LongestMs(begun, over), quiet, rehearsed);
        caller.Forget();
        return pause;
    }

    private static bool IsFault(UpgradeKind kind) => kind is UpgradeKind.GivenUp or UpgradeKind.GivenUpBeside;
}
