using System.Diagnostics;

namespace HelloWorld.Orchestration;

/// <summary>
/// Performs one run: starts the cluster, orders the calls, asks for reports, kills by the schedule, and ends when everything ordered is
/// made and applied, or at the limit. One thread runs it. Every step looks at what has come and decides what is due.
/// </summary>
internal sealed class HelloRun(RunOptions options, Cluster cluster, IScreen screen)
{
    private static readonly TimeSpan s_askEvery = TimeSpan.FromMilliseconds(50), s_drawEvery = TimeSpan.FromMilliseconds(100),
        s_stepAtMost = TimeSpan.FromMilliseconds(10);

    private readonly IReadOnlyList<PlannedKill> _plan = KillSchedule.Of(options.Seed, options.Kills, options.Calls);
    private readonly Questions _questions = new(Guid.NewGuid().ToString("N")[..8]);
    private readonly Recoveries _recoveries = new();
    private readonly CallRate _rate = new();
    private readonly Stopwatch _clock = new();
    private TimeSpan _askNext;
    private TimeSpan _drawNext;

    // The calls that were ordered before this run (-1 until the first answers), and those that must have been applied at its end.
    private long _earlier = -1;
    private long _expected;

    private int _kills;
    private TimeSpan _killDueSince;
    private bool _killDue;
    private int _askedBeforeKill;
    private long _appliedBeforeKill;
    private int _askedBeforeEnd = -1;

    /// <summary>The reason why the run has failed, or null.</summary>
    public string? Failure { get; private set; }

    public Recoveries Recoveries => _recoveries;

    public TimeSpan Elapsed => _clock.Elapsed;

    public long Expected => _expected;

    public ClientReport? Client => _questions.Client;

    public ServerReport? Server => _questions.Server;

    public void Run(CancellationToken stop)
    {
        _clock.Start();
        screen.During(show =>
        {
            cluster.Start();
            while (!IsFinished(stop))
            {
                cluster.Work(s_stepAtMost, stop, _questions.Take);
                Step(_clock.Elapsed);
                if (_clock.Elapsed >= _drawNext) Show(show);
            }
            Show(show);
        });
        _clock.Stop();
    }

    private bool IsFinished(CancellationToken stop)
    {
        if (stop.IsCancellationRequested) Failure = "stopped by the user";
        else if (cluster.Failure is { } failure) Failure = failure;
        else if (_clock.Elapsed > options.Limit) Failure = $"not at its end after {options.Limit.TotalSeconds:F0} s";
        return Failure is not null || (_askedBeforeEnd >= 0 && _questions.BothAnsweredAfter(_askedBeforeEnd));
    }

    private void Step(TimeSpan now)
    {
        Ask(now);
        if (_questions.Client is not { } client || _questions.Server is null) return;
        if (_earlier < 0) (_earlier, _expected) = (client.Wanted, client.Wanted + options.Calls);
        _rate.Add(now, _questions.Applied);
        if (_recoveries.IsRecovering && IsBack()) _recoveries.Back(now);
        if (_kills < _plan.Count) KillIfDue(_plan[_kills], now);
        // The last answers are those to a question that was asked when everything was done already.
        else if (_askedBeforeEnd < 0 && !_recoveries.IsRecovering && IsDone(client)) _askedBeforeEnd = _questions.Asked;
    }

    private void Ask(TimeSpan now)
    {
        if (now < _askNext) return;
        _askNext = now + s_askEvery;
        string question = _questions.Next();
        cluster.Client.Tell(question);
        cluster.Server.Tell(question);
        // The order is repeated until it is known to have arrived: the client may have been killed before the order was logged.
        if (_earlier >= 0 && _questions.Client!.LastOrder != _questions.Run) cluster.Client.Tell($"call {_questions.Run} {options.Calls}");
    }

    private bool IsDone(ClientReport client) => client.LastOrder == _questions.Run && !client.IsCalling;

    /// <summary>True if both sides answer again, and calls flow if there are any left to make.</summary>
    private bool IsBack() =>
        cluster.Client.IsUp && cluster.Server.IsUp && _questions.BothAnsweredAfter(_askedBeforeKill)
        && (_questions.Applied > _appliedBeforeKill || IsDone(_questions.Client!) || _questions.Applied >= _expected);

    private void KillIfDue(PlannedKill next, TimeSpan now)
    {
        if (!_killDue)
        {
            if (_questions.Client!.LastOrder != _questions.Run || _questions.Applied - _earlier < next.AfterCalls) return;
            (_killDue, _killDueSince) = (true, now);
        }
        if (now - _killDueSince < next.Delay || !cluster.CanKill(next.Target)) return;
        cluster.Kill(next.Target);
        _recoveries.Killed(now);
        (_kills, _killDue) = (_kills + 1, false);
        (_askedBeforeKill, _appliedBeforeKill) = (_questions.Asked, _questions.Applied);
    }

    private void Show(Action<RunStatus> show)
    {
        _drawNext = _clock.Elapsed + s_drawEvery;
        show(new RunStatus
        {
            Elapsed = _clock.Elapsed,
            Processes = cluster.Processes,
            Wanted = Math.Max(_expected, _questions.Client?.Wanted ?? 0),
            Made = _questions.Client?.Made ?? 0,
            Applied = _questions.Applied,
            Answers = _questions.Client?.Answers ?? 0,
            KillsPlanned = _plan.Count,
            Kills = _kills,
            Recoveries = _recoveries,
            CallsPerSecond = _rate.Now,
        });
    }
}
