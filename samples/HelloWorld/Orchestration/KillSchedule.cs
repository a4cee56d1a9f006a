namespace HelloWorld.Orchestration;

/// <summary>
/// Plans from a seed which processes to kill and when. Kills are spread over the calls; every kind is as frequent as the others; now and
/// then one follows another closely, so that it hits a recovery.
/// </summary>
internal static class KillSchedule
{
    private const double SoonShare = 0.25;
    private static readonly TimeSpan s_delayMax = TimeSpan.FromMilliseconds(60), s_soonDelayMax = TimeSpan.FromMilliseconds(400);

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
            TimeSpan delay = (isSoon ? s_soonDelayMax : s_delayMax) * random.NextDouble();
            plan.Add(new PlannedKill(targets.Dequeue(), isSoon ? plan[i - 1].AfterCalls : spread, delay));
        }
        return plan;
    }

    /// <summary>Adds one kill of each kind, in random order.</summary>
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

/// <summary>
/// A kill that is planned. It is due a <paramref name="Delay"/> after the kill before it, and after the moment at which so many calls were
/// seen applied.
/// </summary>
/// <param name="AfterCalls">The number of calls of this run.</param>
internal sealed record PlannedKill(KillTarget Target, long AfterCalls, TimeSpan Delay);

/// <summary>The processes that a kill -9 hits, of the four.</summary>
[Flags]
internal enum KillTarget
{
    ClientApp = 1,
    ClientCoordinator = 2,
    ServerApp = 4,
    ServerCoordinator = 8,
    ClientBoth = ClientApp | ClientCoordinator,
    ServerBoth = ServerApp | ServerCoordinator,
    Everything = ClientBoth | ServerBoth,
}
