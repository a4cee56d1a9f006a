using Ambrosia.AppChannel;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Tasks;

namespace Ambrosia.Pumps;

/// <summary>
/// Runs the bodies of NondetTasks on the thread pool, and says in the table that the coordinator reads which of them run. What fails there
/// with something that is no failure of the body ends the process. Any thread.
/// </summary>
/// <param name="table">The file of the table; null: nobody reads one.</param>
/// <param name="build">The build of the app, 16 bytes: what was found out about a body counts for one build.</param>
internal sealed class TaskThreads(TimeProvider time, string? table, ReadOnlyMemory<byte> build, Action<string> log) : ITaskRunner
{
    /// <summary>An operator may let a body run again that is set aside; the app looks for that so often.</summary>
    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(500);

    /// <summary>A suspect that has run for so long is taken for harmless, and the next one runs beside it.</summary>
    private static readonly TimeSpan s_trial = TimeSpan.FromSeconds(10);

    private readonly RankedLock _gate = new(LockRank.TaskThreads);

    /// <summary>The bodies that are not run, by the task's number. Guarded by the lock.</summary>
    private readonly SortedDictionary<ulong, (BodyOfTask Body, Func<Task> Work)> _withheld = [];

    /// <summary>Null: there is none, or this process is not primary yet. Guarded by the lock.</summary>
    private TaskTable? _bodies;
    private ITimer? _look;

    /// <summary>A suspect runs since this time; null: none does. Guarded by the lock.</summary>
    private long? _trialSince;

    public TimeProvider Time { get; } = time;

    public HostServices? Services { get; init; }

    public void Start(Func<Task> work) => ThreadPool.UnsafeQueueUserWorkItem(static work => Run(work), work, preferLocal: false);

    public void BecomePrimary(IReadOnlySet<ulong> outstanding)
    {
        if (table is null) return;
        try
        {
            using (_gate.Enter())
            {
                _bodies ??= TaskTable.Open(table);
                _bodies.Begin(build.Span, outstanding);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            log($"The table of tasks' bodies cannot be opened: {e.Message}. Should a body end this process, nobody can say which one it was.");
        }
    }

    public void StartBody(BodyOfTask body, Func<Task> work)
    {
        BodyStart start = BodyStart.Runs;
        using (_gate.Enter())
        {
            if (_bodies is { } bodies)
            {
                if (bodies.IsDraining) return; // the next primary runs it
                start = bodies.Start(body.Task, new Lsn(body.BegunAt), body.Name);
                if (start == BodyStart.RunsAsSuspect) _trialSince = Time.GetTimestamp();
                if (start is BodyStart.IsAside or BodyStart.WaitsForAnother)
                {
                    _withheld[body.Task] = (body, work);
                    _look ??= Time.CreateTimer(static threads => ((TaskThreads)threads!).Look(), this, s_lookEvery, s_lookEvery);
                }
            }
        }
        if (start is BodyStart.Runs or BodyStart.RunsAsSuspect) Start(work);
        else log(start == BodyStart.IsAside
            ? $"Task {body.Task} is set aside, and its body {body.Name} is not run: it ran each time when this app died. See 'ambrosia quarantine list'."
            : $"Task {body.Task} waits: its body {body.Name} is one of several that ran when this app died, and they are run one after another.");
    }

    public void BodyEnded(ulong task)
    {
        using (_gate.Enter())
        {
            if (_bodies is null) return;
            _bodies.End(task);
            _withheld.Remove(task);
            if (_withheld.Count == 0) return;
        }
        Look();
    }

    public void SessionEnded()
    {
        using (_gate.Enter())
        {
            _bodies?.EndAll();
            _withheld.Clear();
        }
    }

    public void CountUnheard()
    {
        using (_gate.Enter()) _bodies?.AddUnheard();
    }

    /// <summary>Runs what may run by now.</summary>
    private void Look()
    {
        var started = new List<Func<Task>>();
        using (_gate.Enter())
        {
            if (_bodies is not { IsDraining: false } bodies) return;
            if (_trialSince is { } since && Time.GetElapsedTime(since) >= s_trial)
            {
                bodies.EndTrial();
                _trialSince = null;
            }
            foreach ((BodyOfTask body, Func<Task> work) in _withheld.Values.ToArray())
            {
                BodyStart start = bodies.Start(body.Task, new Lsn(body.BegunAt), body.Name);
                if (start is BodyStart.IsAside or BodyStart.WaitsForAnother) continue;
                if (start == BodyStart.RunsAsSuspect) _trialSince = Time.GetTimestamp();
                _withheld.Remove(body.Task);
                started.Add(work);
            }
            if (_withheld.Count == 0)
            {
                _look?.Dispose();
                _look = null;
            }
        }
        foreach (Func<Task> work in started) Start(work);
    }

    /// <summary>Runs a body as an async void method: what it throws is unhandled, which is what is wanted.</summary>
    private static async void Run(Func<Task> work) => await work().ConfigureAwait(false);
}
