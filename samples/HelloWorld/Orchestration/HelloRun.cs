// One run: starts the cluster, orders the calls, asks for reports, kills by the schedule, and ends when everything ordered is made and
// applied, or at the limit. One thread; every step looks at what has come and decides what is due.
using System.Diagnostics;

namespace HelloWorld.Orchestration;

internal sealed class HelloRun(RunOptions options, Cluster cluster, IScreen screen)
{
    private static readonly TimeSpan askEvery = TimeSpan.FromMilliseconds(50), drawEvery = TimeSpan.FromMilliseconds(100),
        stepAtMost = TimeSpan.FromMilliseconds(10);

    private readonly string name = Guid.NewGuid().ToString("N")[..8];
    private readonly IReadOnlyList<PlannedKill> plan = KillSchedule.Of(options.Seed, options.Kills, options.Calls);
    private readonly Recoveries recoveries = new();
    private readonly CallRate rate = new();
    private readonly Stopwatch clock = new();
    private Questions questions = null!;
    private TimeSpan askNext;
    private TimeSpan drawNext;

    // Known from the first answers on: calls that were ordered before this run, and those that must have been applied at its end.
    private long earlier = -1;
    private long expected;

    private int kills;
    private TimeSpan killDueSince;
    private bool killDue;
    private int askedBeforeKill;
    private long appliedBeforeKill;
    private int askedBeforeEnd = -1;

    /// <summary>Null: it came to its end; else why not.</summary>
    public string? Failure { get; private set; }

    public Recoveries Recoveries => recoveries;

    public TimeSpan Elapsed => clock.Elapsed;

    public long Expected => expected;

    public ClientReport? Client => questions.Client;

    public ServerReport? Server => questions.Server;

    public void Run(CancellationToken stop)
    {
        questions = new Questions(name);
        clock.Start();
        screen.During(show =>
        {
            cluster.Start();
            while (!IsFinished(stop))
            {
                cluster.Work(stepAtMost, stop, questions.Take);
                Step(clock.Elapsed);
                if (clock.Elapsed >= drawNext) Show(show);
            }
            Show(show);
        });
        clock.Stop();
    }

    private bool IsFinished(CancellationToken stop)
    {
        if (stop.IsCancellationRequested) Failure = "stopped by the user";
        else if (cluster.Failure is { } failure) Failure = failure;
        else if (clock.Elapsed > options.Limit) Failure = $"not at its end after {options.Limit.TotalSeconds:F0} s";
        return Failure is not null || (askedBeforeEnd >= 0 && questions.BothAnsweredAfter(askedBeforeEnd));
    }

    private void Step(TimeSpan now)
    {
        Ask(now);
        if (questions.Client is not { } client || questions.Server is null) return;
        if (earlier < 0) (earlier, expected) = (client.Wanted, client.Wanted + options.Calls);
        rate.Add(now, questions.Applied);
        if (recoveries.IsRecovering && IsBack()) recoveries.Back(now);
        if (kills < plan.Count) KillIfDue(plan[kills], now);
        // The last word is an answer to a question that was asked when everything was done already.
        else if (askedBeforeEnd < 0 && !recoveries.IsRecovering && IsDone(client)) askedBeforeEnd = questions.Asked;
    }

    private void Ask(TimeSpan now)
    {
        if (now < askNext) return;
        askNext = now + askEvery;
        string question = questions.Next();
        cluster.Client.Tell(question);
        cluster.Server.Tell(question);
        // Given until it is known to have arrived: whoever was told may have been killed before the order was logged.
        if (earlier >= 0 && questions.Client!.LastOrder != name) cluster.Client.Tell($"call {name} {options.Calls}");
    }

    private bool IsDone(ClientReport client) => client.LastOrder == name && !client.IsCalling;

    /// <summary>Both answer again, and calls flow, if there are any left to make.</summary>
    private bool IsBack() =>
        cluster.Client.IsUp && cluster.Server.IsUp && questions.BothAnsweredAfter(askedBeforeKill)
        && (questions.Applied > appliedBeforeKill || IsDone(questions.Client!) || questions.Applied >= expected);

    private void KillIfDue(PlannedKill next, TimeSpan now)
    {
        if (!killDue)
        {
            if (questions.Client!.LastOrder != name || questions.Applied - earlier < next.AfterCalls) return;
            (killDue, killDueSince) = (true, now);
        }
        if (now - killDueSince < next.Delay || !cluster.CanKill(next.Target)) return;
        cluster.Kill(next.Target);
        recoveries.Killed(now);
        (kills, killDue) = (kills + 1, false);
        (askedBeforeKill, appliedBeforeKill) = (questions.Asked, questions.Applied);
    }

    private void Show(Action<Figures> show)
    {
        drawNext = clock.Elapsed + drawEvery;
        show(new Figures
        {
            Elapsed = clock.Elapsed,
            Processes = cluster.Processes,
            Wanted = Math.Max(expected, questions.Client?.Wanted ?? 0),
            Made = questions.Client?.Made ?? 0,
            Applied = questions.Applied,
            Answers = questions.Client?.Answers ?? 0,
            KillsPlanned = plan.Count,
            Kills = kills,
            Recoveries = recoveries,
            CallsPerSecond = rate.Now,
        });
    }
}
