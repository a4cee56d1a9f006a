namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>The worlds of real parts, and how far the suite goes through each.</summary>
/// <param name="Name">The scenario's class.</param>
/// <param name="Preemptions">All schedules with so many preemptions are run; worlds of five threads have too many with one.</param>
/// <param name="Random">So many random schedules belong to a release.</param>
internal sealed record AllScenarios(string Name, int Preemptions, int Random)
{
    public static IReadOnlyList<AllScenarios> List { get; } =
    [
        new(nameof(PagePoolScenario), 1, 8_000),
        new(nameof(AloneScenario), 1, 8_000),
        new(nameof(TwoCommittersScenario), 1, 20_000),
        new(nameof(CommitPumpScenario), 1, 15_000),
        new(nameof(DedupTableScenario), 1, 5_000),
        new(nameof(ForgetPeerScenario), 1, 8_000),
        new(nameof(EpochBeginningScenario), 1, 2_000),
        new(nameof(OutPumpScenario), 0, 20_000),
        new(nameof(LinkEndingScenario), 0, 30_000),
        new(nameof(PeerLinkScenario), 0, 3_000),
        new(nameof(OutboxScenario), 1, 15_000),
        new(nameof(OutboundScenario), 1, 12_000),
        new(nameof(EventWriterScenario), 2, 30_000),
        new(nameof(RingsScenario), 2, 15_000),
        new(nameof(RingsEndScenario), 2, 15_000),
    ];
}
