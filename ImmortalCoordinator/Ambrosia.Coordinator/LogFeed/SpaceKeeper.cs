using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.LogFeed;

/// <summary>
/// Decides when zeros are written ahead of the log's tail, and says when its disk is full and when there is space again. It never waits: a
/// pump asks again, after the rest that it is told. One thread; another one asks whether it stands still.
/// </summary>
internal sealed class SpaceKeeper(ReplicaLog log, ILogger logger)
{
    private static readonly TimeSpan s_rest = TimeSpan.FromMilliseconds(2), s_slowRest = TimeSpan.FromMilliseconds(10),
        s_idleRest = TimeSpan.FromMilliseconds(100), s_shortRest = TimeSpan.FromMilliseconds(100);

    /// <summary>A log that grew by less during a rest uses up little of the zeros ahead of it before the end of a longer one.</summary>
    private const long SlowBytes = 64 << 10;

    private bool _wasShort;
    private Lsn _durable;
    private long _steps;
    private long _underWay; // the number of the step that is under way; 0: none is
    private long _seen;     // the step that was under way when StandsStill was asked last

    /// <summary>
    /// Returns true when the step under way is the one that was under way at the last call: the disk below does not answer. The thread that
    /// beats asks, each time that it may beat.
    /// </summary>
    public bool StandsStill()
    {
        long now = Volatile.Read(ref _underWay), before = _seen;
        _seen = now;
        return now != 0 && now == before;
    }

    /// <summary>A step begins. What does not come back from here on stands still.</summary>
    public void Enter() => Volatile.Write(ref _underWay, ++_steps);

    /// <summary>Writes a piece of zeros where some are due, and says what the pump is to do now.</summary>
    public SpaceStep Step()
    {
        Enter();
        SpaceStep step = Prepare();
        Volatile.Write(ref _underWay, 0); // not behind a failure: the process ends
        return step;
    }

    private SpaceStep Prepare()
    {
        if (!log.IsWritten) return new SpaceStep(s_idleRest, IsWokenEarly: true, MustCommit: false);
        LogWriter writer = log.Writer;
        bool isWaiting = writer.IsAwaitingSpace, more = writer.PrepareSpace(), isShort = writer.IsSpaceShort;
        if (isShort != _wasShort) LogWhether(isShort, writer.Durable);
        _wasShort = isShort;
        Lsn durable = writer.Durable, before = _durable;
        _durable = durable;
        if (more) return new SpaceStep(TimeSpan.Zero, IsWokenEarly: true, isWaiting);
        // On a full disk a commit that waits would only ask again and again.
        if (isShort) return new SpaceStep(s_shortRest, IsWokenEarly: false, isWaiting);
        TimeSpan rest = isWaiting ? s_rest : durable == before ? s_idleRest : durable < before + SlowBytes ? s_slowRest : s_rest;
        return new SpaceStep(rest, IsWokenEarly: true, isWaiting);
    }

    private void LogWhether(bool isShort, Lsn durable)
    {
        if (isShort) logger.DiskFull(durable);
        else logger.SpaceReturned();
    }
}

/// <summary>It says what the pump does before it asks again.</summary>
/// <param name="Rest">It rests for so long.</param>
/// <param name="IsWokenEarly">A commit that waits for space ends the rest.</param>
/// <param name="MustCommit">A commit has waited for space, and is to be tried again.</param>
internal readonly record struct SpaceStep(TimeSpan Rest, bool IsWokenEarly, bool MustCommit);

/// <summary>Declares the events of the space that a primary's log has.</summary>
internal static partial class SpaceEvents
{
    /// <summary>Give the disk space, or keep less history (--retain).</summary>
    [LoggerMessage(EventId = 702, EventName = "log.full", Level = LogLevel.Error,
        Message = "THE LOG'S DISK IS FULL: nothing is lost, but inputs wait from Lsn {Durable} on until there is space again")]
    public static partial void DiskFull(this ILogger logger, Lsn durable);

    /// <summary>The shortage of space is over.</summary>
    [LoggerMessage(EventId = 703, EventName = "log.space.returned", Level = LogLevel.Information,
        Message = "there is space for the log again; work goes on")]
    public static partial void SpaceReturned(this ILogger logger);
}
