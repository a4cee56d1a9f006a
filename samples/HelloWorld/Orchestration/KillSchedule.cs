namespace HelloWorld.Orchestration;

/// <summary>
/// Whom to kill and when, from a seed: spread over the calls, every kind of kill as often as the others, and now and then one right
/// behind another, so that it hits a recovery.
/// </summary>
internal static class KillSchedule
{
    private const double SoonShare = 0.25;
    private static readonly TimeSpan delayMax = TimeSpan.FromMilliseconds(60), soonDelayMax = TimeSpan.FromMilliseconds(400);

    public static IReadOnlyList<PlannedKill> Of(int seed, int kills, long calls)
    {
        var random = new Random(seed);
        var plan = new List<PlannedKill>(kills);
        var targets = new Queue<KillTarget>();
        for (int i = 0; i < kills; i++)
        {
            if (targets.Count == 0) Refill(targets, random);
            bool isSoon = i > 0 && random.NextDouble() < SoonShare;
            long spread = (long)(calls * ((i + random.NextDouble()) / (kills + 1)));
            TimeSpan delay = (isSoon ? soonDelayMax : delayMax) * random.NextDouble();
            plan.Add(new PlannedKill(targets.Dequeue(), isSoon ? plan[i - 1].AfterCalls : spread, delay));
        }
        return plan;
    }

    /// <summary>One of each kind, in random order.</summary>
    private static void Refill(Queue<KillTarget> targets, Random random)
    {
        KillTarget[] kinds =
        [
            KillTarget.ClientApp, KillTarget.ClientCoordinator, KillTarget.ServerApp, KillTarget.ServerCoordinator,
            random.Next(2) == 0 ? KillTarget.ClientBoth : KillTarget.ServerBoth, KillTarget.Everything,
        ];
        random.Shuffle(kinds);
        foreach (KillTarget kind in kinds) targets.Enqueue(kind);
    }
}
