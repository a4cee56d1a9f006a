namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>The worlds of real parts, and how far the suite goes through each.</summary>
/// <param name="Name">The scenario's class without its last word.</param>
/// <param name="Preemptions">All schedules with so many preemptions are run, or the first <paramref name="ExhaustiveMax"/>.</param>
/// <param name="ExhaustiveMax">It stops the long ones.</param>
/// <param name="Random">So many random schedules belong to a release.</param>
internal sealed record AllScenarios(string Name, int Preemptions, int ExhaustiveMax, int Random)
{
    public static IReadOnlyList<AllScenarios> List { get; } =
    [
        new(nameof(PagePoolScenario), 1, 2_000, 20_000),
        new(nameof(TwoCommittersScenario), 2, 10_000, 60_000),
        new(nameof(CommitPumpScenario), 1, 5_000, 40_000),
        new(nameof(DedupTableScenario), 1, 2_000, 20_000),
        new(nameof(ForgetPeerScenario), 1, 2_000, 20_000),
        new(nameof(OutPumpScenario), 1, 5_000, 40_000),
        new(nameof(LinkEndingScenario), 1, 5_000, 40_000),
        new(nameof(PeerLinkScenario), 1, 2_000, 20_000),
        new(nameof(OutboxScenario), 1, 2_000, 20_000),
        new(nameof(OutboundScenario), 2, 5_000, 40_000),
        new(nameof(EventWriterScenario), 2, 5_000, 40_000),
        new(nameof(RingsScenario), 2, 5_000, 20_000),
        new(nameof(RingsEndScenario), 2, 5_000, 20_000),
    ];
}
