using System.Diagnostics;
using System.Text;
using Ambrosia.Schedules.Strategies;

namespace Ambrosia.Schedules;

/// <summary>Runs one schedule of a scenario after another until one fails, and counts what was run.</summary>
public sealed class Explorer(Scenario scenario, string? plant = null)
{
    /// <summary>Hashes of schedules are kept up to this many, to count those that differ.</summary>
    private const int HashesMax = 4_000_000;

    /// <summary>So many of the last steps before a failure are shown.</summary>
    private const int StepsShown = 60;

    private readonly Scheduler _scheduler = new();
    private readonly HashSet<ulong> _hashes = [];

    public int Schedules { get; private set; }

    public long Steps { get; private set; }

    /// <summary>The number of schedules that differed from all before in some step.</summary>
    public int Distinct => _hashes.Count;

    /// <summary>The steps of the longest schedule.</summary>
    public int Longest { get; private set; }

    /// <summary>True when the strategy has no further schedule.</summary>
    public bool IsExhausted { get; private set; }

    /// <summary>The hash of the steps of the last schedule.</summary>
    public ulong StepHash => _scheduler.StepHash;

    /// <summary>Runs schedules until one fails, the strategy has no more, or there were so many; null: all held.</summary>
    public Finding? Run(IStrategy strategy, int schedulesMax, TimeSpan? limit = null)
    {
        var watch = Stopwatch.StartNew();
        for (int i = 0; i < schedulesMax && (limit is null || watch.Elapsed < limit); i++)
        {
            if (!strategy.Begin())
            {
                IsExhausted = true;
                return null;
            }
            if (RunOne(strategy) is { } failure)
                return new Finding(scenario.Name, plant, failure, Schedule.Write(_scheduler.Choices), (strategy as RandomStrategy)?.Seed,
                    Schedules, StepHash);
        }
        return null;
    }

    private Failure? RunOne(IStrategy strategy)
    {
        Failure? failure = _scheduler.Run(scenario, strategy);
        Schedules++;
        Steps += _scheduler.Steps;
        Longest = Math.Max(Longest, _scheduler.Steps);
        if (_hashes.Count < HashesMax) _hashes.Add(_scheduler.StepHash);
        return failure;
    }

    /// <summary>Repeats a schedule, and tells its last steps: each thread, what it does, and where.</summary>
    public string Trace(string schedule, out Failure? failure)
    {
        var last = new Queue<string>();
        _scheduler.Traced = (thread, kind) =>
        {
            last.Enqueue($"{thread.Number} {thread.Name,-12} {kind,-13} {PlaceOf(new StackTrace(2))}");
            if (last.Count > StepsShown) last.Dequeue();
        };
        var strategy = new ReplayStrategy(Schedule.Read(schedule));
        strategy.Begin();
        failure = RunOne(strategy);
        _scheduler.Traced = null;
        var text = new StringBuilder();
        foreach (string line in last) text.AppendLine(line);
        return text.ToString();
    }

    /// <summary>Tells of a failure, how to repeat it, and its last steps.</summary>
    public string Told(Finding finding) => $"{finding}\n{Trace(finding.Schedule, out _)}";

    public override string ToString() =>
        $"{Schedules,10:N0} schedules, {Distinct,9:N0}{(Distinct == HashesMax ? "+" : "")} different, {Steps,14:N0} steps, "
        + $"the longest {Longest,5:N0}";

    private static string PlaceOf(StackTrace stack)
    {
        IEnumerable<string> frames =
            from frame in stack.GetFrames()
            let method = frame.GetMethod()
            where method?.DeclaringType is { } type && type.Assembly != typeof(Explorer).Assembly && type.Namespace != "System.Threading"
            select $"{method.DeclaringType!.Name}.{method.Name}";
        return string.Join(" < ", frames.Take(4));
    }
}

/// <summary>A schedule that failed, and how to repeat it.</summary>
/// <param name="Plant">The fault that was planted, or null.</param>
/// <param name="Seed">The seed that drew it; null: it was not drawn.</param>
/// <param name="Number">How many schedules had been run with it.</param>
public sealed record Finding(
    string Scenario, string? Plant, Failure Failure, string Schedule, ulong? Seed, int Number, ulong StepHash)
{
    public override string ToString() =>
        $"{Scenario}: {Failure}\nschedule {Number}{(Seed is { } seed ? $", seed {seed}" : "")}; repeat it with\n"
        + $"  dotnet run --project tests/Ambrosia.Schedules.Tests -- "
        + $"{(Plant is null ? $"--scenario {Scenario}" : $"--plant {Plant}")} --schedule \"{Schedule}\"";
}
