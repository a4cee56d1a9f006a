using System.Buffers;
using Ambrosia.AppChannel;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Knows which bodies of tasks the app of this replica runs, by the table that both share (protocol P5.26): it finds out which one ends the
/// app's process, has one wait that does, and logs what an operator decides about it. Any thread.
/// </summary>
internal sealed class TaskBodies(LogAppender log)
{
    /// <summary>Null: this replica has none, as a view, or where its file could not be made.</summary>
    private volatile TaskTable? _table;

    /// <summary>The app runs bodies.</summary>
    public bool AnyRuns => _table?.HasRunning == true;

    /// <summary>The bodies that are set aside.</summary>
    public IReadOnlyList<TaskBody> Aside => [.. (_table?.All ?? []).Where(static body => body.IsAside).OrderBy(static body => body.Task)];

    /// <summary>The number of failures of calls and tasks that no handler has awaited.</summary>
    public ulong Unheard => _table?.Unheard ?? 0;

    /// <summary>The table is there; how the last app of it ended is not known. It lives as long as this process.</summary>
    public void Begin(TaskTable table)
    {
        table.IsDraining = false;
        table.Ended();
        _table = table;
    }

    /// <summary>The app begins no body any more; those that run go on.</summary>
    public void Drain()
    {
        if (_table is { } table) table.IsDraining = true;
    }

    /// <summary>The process of the app has ended.</summary>
    /// <param name="byItself">False: it was ended from outside, which says nothing of what it ran.</param>
    /// <returns>The bodies that ran when it died, and may be the reason.</returns>
    public IReadOnlyList<TaskBody> Died(bool byItself)
    {
        if (_table is not { } table) return [];
        if (byItself) return table.Died();
        table.Ended();
        return [];
    }

    /// <summary>Lets a body run again. False: it is not set aside.</summary>
    public bool Retry(ulong task) => _table?.Retry(task) == true;

    /// <summary>It logs that a task has failed, since an operator has given it up. False: the log has no room now.</summary>
    public bool TryGiveUp(ulong task)
    {
        var failure = new ArrayBufferWriter<byte>();
        var to = new CborWriter(failure);
        ListedFailures.TaskGivenUp(task).Write(ref to);
        to.Flush();
        return log.TryAppend(new NondetResultRecord(task, true, failure.WrittenMemory), out _);
    }
}
