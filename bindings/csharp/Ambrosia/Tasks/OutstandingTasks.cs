using Ambrosia.Calls;
using Ambrosia.Failures;
using Ambrosia.Protocol.Records;
using Ambrosia.Replay;

namespace Ambrosia.Tasks;

/// <summary>
/// Holds the immortal's tasks by number, from their call to the first record with a result (log-format L5.9). Thread: the scheduler's.
/// Invariant: a body runs only in a primary (I10); each task is completed once, by the log (I17); every number is below Next.
/// </summary>
internal sealed class OutstandingTasks(
    ReplayContext context, Guid instance, TaskReports reports, ITaskRunner? runner, AttachProxy attach)
{
    internal const int OutstandingMax = 1 << 20;

    private readonly SortedDictionary<ulong, IPendingTask> _byNumber = [];
    private readonly CancellationTokenSource _ended = new();

    /// <summary>The records that began tasks which this process has seen begin. No part of the state: it is for people.</summary>
    private readonly Dictionary<ulong, ulong> _begunAt = [];

    /// <summary>The services that the process has for code outside of handlers; null: it has none. Any thread.</summary>
    internal HostServices? Services => runner?.Services;

    /// <summary>The number of the next task, from 1.</summary>
    internal ulong Next { get; private set; } = 1;

    /// <summary>It tells of failures that nobody awaits, of tasks and of calls.</summary>
    internal UnheardFailures Unheard { get; } = new(runner?.Time, reports.Log, () => runner?.CountUnheard());

    internal int Count => _byNumber.Count;

    /// <summary>The tasks in order of their numbers.</summary>
    internal IReadOnlyCollection<IPendingTask> All => _byNumber.Values;

    /// <summary>The number of results that had no effect, because another one of their task was logged before.</summary>
    internal long Ignored { get; private set; }

    /// <summary>The number of bodies that this session has started.</summary>
    internal long Started { get; private set; }

    internal Source<T> Lambda<T>(Delegate body, NondetOptions? options) =>
        Add(new LambdaTask<T>(NextNumber(), context.NowUs, Checked(options), body));

    internal Source<T> Method<TArgument, T>(Delegate body, TArgument argument, NondetOptions? options) =>
        Add(MethodTask<TArgument, T>.Of(NextNumber(), context.NowUs, Checked(options), body, argument));

    /// <summary>Starts whatever has no result (again): this replica is primary now.</summary>
    internal void StartAll()
    {
        runner?.BecomePrimary(_byNumber.Keys.ToHashSet());
        foreach (IPendingTask task in _byNumber.Values) Start(task, isNew: false);
    }

    /// <summary>Starts work outside of the handlers that is no task: it has no result.</summary>
    internal void StartWork(Func<CancellationToken, Task> work)
    {
        if (runner is null) throw new InvalidOperationException("This session was made without a runner of tasks.");
        var ended = new StopSignal("WhilePrimary", reports.Log, _ended.Token);
        runner.Start(() => work(ended.Token));
    }

    /// <summary>Executes a NondetResult record, inside the scheduler.</summary>
    /// <exception cref="Diverged">L5.11.</exception>
    internal void Take(NondetResultRecord record)
    {
        if (record.Task == 0 || record.Task >= Next)
            throw new Diverged($"the log holds a result of task {record.Task}; this execution has begun {Next - 1} tasks so far (L5.11)");
        _begunAt.Remove(record.Task);
        if (reports.IsPrimary) runner?.BodyEnded(record.Task);
        if (_byNumber.Remove(record.Task, out IPendingTask? task)) task.Take(record, attach);
        else Ignored++;
    }

    internal void Restore(ulong next, IEnumerable<IPendingTask> tasks)
    {
        Next = next;
        foreach (IPendingTask task in tasks)
        {
            if (task.Number == 0 || task.Number >= next)
                throw new InvalidDataException($"The image holds task {task.Number} where {next} is next.");
            _byNumber.Add(task.Number, task);
        }
    }

    /// <summary>Tells the bodies that the session has ended; nobody waits for them.</summary>
    internal void End()
    {
        _ended.Cancel();
        runner?.SessionEnded();
    }

    private static NondetOptions Checked(NondetOptions? options)
    {
        options ??= NondetOptions.Once;
        options.Check();
        return options;
    }

    private ulong NextNumber()
    {
        context.CheckEffect("begins a task");
        if (_byNumber.Count == OutstandingMax) throw new LimitReachedException(OutstandingMax, "tasks");
        return Next;
    }

    private PendingTask<T> Add<T>(PendingTask<T> task)
    {
        _begunAt[Next] = context.ExecutingLsn;
        _byNumber.Add(Next++, task);
        if (reports.IsPrimary) Start(task, isNew: true);
        return task;
    }

    private void Start(IPendingTask task, bool isNew)
    {
        if (!reports.IsPrimary) throw new InvalidOperationException("a replica that is not primary starts no task (I10)");
        if (runner is null) throw new InvalidOperationException("This session was made without a runner of tasks.");
        Started++;
        var body = new BodyOfTask(task.Number, _begunAt.GetValueOrDefault(task.Number), task.BodyName);
        new TaskRun(task, body, FormattableString.Invariant($"{instance:N}/{task.Number}"), reports, runner, _ended.Token).Start(isNew);
    }
}
