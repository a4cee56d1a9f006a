// The immortal's tasks by number, from their call to the first record with a result (log-format L5.9). Thread: the scheduler's.
// Invariant: a body runs only in a primary (I10); each task is completed once, by the log (I17); every number is below Next.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class OutstandingTasks(ImmortalRuntime runtime, Guid instance, TaskReports reports, ITaskRunner? runner)
{
    internal const int OutstandingMax = 1 << 20;

    private readonly SortedDictionary<ulong, IPendingTask> byNumber = [];
    private readonly CancellationTokenSource ended = new();

    /// <summary>Number of the next task, from 1.</summary>
    internal ulong Next { get; private set; } = 1;

    internal int Count => byNumber.Count;

    /// <summary>In order of their numbers.</summary>
    internal IReadOnlyCollection<IPendingTask> All => byNumber.Values;

    /// <summary>Results that had no effect, because another one of their task was logged before.</summary>
    internal long Ignored { get; private set; }

    /// <summary>Bodies that this session has started.</summary>
    internal long Started { get; private set; }

    internal Source<T> Lambda<T>(Delegate body, NondetOptions? options) =>
        Add(new LambdaTask<T>(NextNumber(), runtime.Surroundings.NowUs, Checked(options), body));

    internal Source<T> Method<TArgument, T>(Delegate body, TArgument argument, NondetOptions? options) =>
        Add(MethodTask<TArgument, T>.Of(NextNumber(), runtime.Surroundings.NowUs, Checked(options), body, argument));

    /// <summary>This replica is primary now: whatever has no result starts (again).</summary>
    internal void StartAll()
    {
        foreach (IPendingTask task in byNumber.Values) Start(task);
    }

    /// <summary>A NondetResult record, inside the scheduler.</summary>
    /// <exception cref="Diverged">L5.11.</exception>
    internal void Take(NondetResultRecord record)
    {
        if (record.Task == 0 || record.Task >= Next)
            throw new Diverged($"the log holds a result of task {record.Task}; this execution has begun {Next - 1} tasks so far (L5.11)");
        if (byNumber.Remove(record.Task, out IPendingTask? task)) task.Take(record, runtime.TargetOf);
        else Ignored++;
    }

    internal void Restore(ulong next, IEnumerable<IPendingTask> tasks)
    {
        Next = next;
        foreach (IPendingTask task in tasks)
        {
            if (task.Number == 0 || task.Number >= next)
                throw new InvalidDataException($"The image holds task {task.Number} where {next} is next.");
            byNumber.Add(task.Number, task);
        }
    }

    /// <summary>The session has ended: bodies are told, and nobody waits for them.</summary>
    internal void End() => ended.Cancel();

    private static NondetOptions Checked(NondetOptions? options)
    {
        options ??= NondetOptions.Once;
        options.Check();
        return options;
    }

    private ulong NextNumber()
    {
        runtime.Surroundings.CheckHandler();
        if (byNumber.Count == OutstandingMax)
            throw new InvalidOperationException($"{OutstandingMax} tasks have no result yet, which is the limit.");
        return Next;
    }

    private PendingTask<T> Add<T>(PendingTask<T> task)
    {
        byNumber.Add(Next++, task);
        if (runtime.IsPrimary) Start(task);
        return task;
    }

    private void Start(IPendingTask task)
    {
        if (!runtime.IsPrimary) throw new InvalidOperationException("a replica that is not primary starts no task (I10)");
        if (runner is null) throw new InvalidOperationException("This session was made without a runner of tasks.");
        Started++;
        new TaskRun(task, FormattableString.Invariant($"{instance:N}/{task.Number}"), reports, runner, ended.Token).Start();
    }
}
