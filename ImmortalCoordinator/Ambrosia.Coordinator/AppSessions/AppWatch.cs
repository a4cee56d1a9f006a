using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>Says what the app is waited for.</summary>
internal enum AppWaitKind
{
    /// <summary>It is waited for nothing.</summary>
    None,

    /// <summary>No app has a session.</summary>
    Connection,

    /// <summary>It was given records, and reports no more of them as executed.</summary>
    Record,

    /// <summary>It was told to become primary and has not answered.</summary>
    BecomingPrimary,
}

/// <summary>It is what the app is waited for, and for how long already.</summary>
/// <param name="At">The message that does not end, as far as the app says it.</param>
internal readonly record struct AppWait(AppWaitKind Kind, ExecutingPlace At, TimeSpan Lasts)
{
    /// <summary>Says it to people, as the end of a sentence about the replica.</summary>
    public string Text => Kind switch
    {
        AppWaitKind.Connection => $"no app has been connected for {Lasts.TotalSeconds:F0} s",
        AppWaitKind.Record => $"its app has been executing the record at Lsn {At} for {Lasts.TotalSeconds:F0} s",
        AppWaitKind.BecomingPrimary => $"its app has been in BecomingPrimary for {Lasts.TotalSeconds:F0} s",
        _ => "its app goes on",
    };
}

/// <summary>
/// Notices that the app does not get on: a handler does not come back, or nobody connects. It compares what the app was given with what it
/// reports as executed, and owns what operators were told: an event when the limit is passed, again after ever longer times, and one when
/// it is over. One thread ticks; any thread may ask.
/// </summary>
/// <param name="isHeldUp">The app waits for this side, which is told elsewhere: for room for its outputs, or for space for the log.</param>
/// <param name="recordMax">A message may be executed for so long.</param>
internal sealed class AppWatch(
    AppSessionRegistry sessions, AppExecution execution, Func<bool> isHeldUp, TimeSpan recordMax, ILogger logger)
{
    /// <summary>A supervised app connects in a fraction of this.</summary>
    internal static readonly TimeSpan ConnectMax = TimeSpan.FromSeconds(5);

    /// <summary>It is told again after as long as it has lasted, and at the latest after this.</summary>
    internal static readonly TimeSpan AgainMax = TimeSpan.FromMinutes(10);

    private readonly RankedLock _gate = new(LockRank.AppWatch);

    /// <summary>The last tick saw this. It and the rest is guarded by the lock.</summary>
    private Sight _seen;
    private TimeSpan _since, _tellAt, _now;
    private bool _isTold;

    /// <summary>What is waited for beyond the limit; null: nothing is.</summary>
    public AppWait? Overdue { get { using (_gate.Enter()) return _isTold ? Wait() : null; } }

    public void Tick(TimeSpan now)
    {
        Sight seen = Look();
        AppWait? over = null, told = null;
        using (_gate.Enter())
        {
            _now = now;
            if (IsSaidMoreExactly(seen)) _seen = seen;
            if (seen != _seen)
            {
                if (_isTold && IsOver(seen)) over = Wait();
                (_seen, _since, _isTold) = (seen, now, false);
                _tellAt = now + (seen.Kind == AppWaitKind.Connection ? ConnectMax : recordMax);
            }
            if (seen.Kind != AppWaitKind.None && now >= _tellAt)
            {
                _isTold = true;
                told = Wait();
                _tellAt = now + TimeSpan.FromTicks(Math.Min((now - _since).Ticks, AgainMax.Ticks));
            }
        }
        if (over is { } ended) logger.AppResumed(ended.Lasts.TotalSeconds);
        if (told is { } wait) Tell(wait);
    }

    private Sight Look()
    {
        if (sessions.Live is not { HasBegun: true } session)
            return new Sight(sessions.Admission.WaitsBecause is null ? AppWaitKind.Connection : AppWaitKind.None, 0, default);
        DeliveryTracker progress = execution.Progress;
        ExecutingPlace at = progress.Executing;
        if (isHeldUp() || session.LogWaits) return new Sight(AppWaitKind.None, session.Number, at);
        AppWaitKind kind = !progress.IsDry ? AppWaitKind.Record
            : session.IsBecomingPrimary ? AppWaitKind.BecomingPrimary : AppWaitKind.None;
        return new Sight(kind, session.Number, at);
    }

    /// <summary>An app that is gone has not got on; whoever has been waited for has come.</summary>
    private bool IsOver(Sight seen) =>
        seen.Kind != AppWaitKind.Connection && (_seen.Kind == AppWaitKind.Connection || _seen.Session == seen.Session);

    /// <summary>The app has named the message in the record at which it was seen already: it has not got on by that.</summary>
    private bool IsSaidMoreExactly(Sight seen) =>
        _seen.At.Index is null && seen == _seen with { At = _seen.At with { Index = seen.At.Index } };

    private AppWait Wait() => new(_seen.Kind, _seen.At, _now - _since);

    private void Tell(AppWait wait)
    {
        double seconds = wait.Lasts.TotalSeconds;
        if (wait.Kind == AppWaitKind.Connection) logger.AppMissing(seconds);
        else if (wait.Kind == AppWaitKind.Record) logger.RecordHangs(wait.At, seconds, execution.Progress.DeliveredTo);
        else logger.BecomingPrimaryHangs(seconds, wait.At.At);
    }

    private readonly record struct Sight(AppWaitKind Kind, ulong Session, ExecutingPlace At);
}

/// <summary>Declares the events about an app that does not get on.</summary>
internal static partial class AppWatchEvents
{
    /// <summary>
    /// No app has connected, or could begin a session, for 5 s; it is written again after ever longer times, up to 10 min. Look at the
    /// lines of the app and at what is behind --, or start the app.
    /// </summary>
    [LoggerMessage(EventId = 811, EventName = "app.missing", Level = LogLevel.Warning,
        Message = "no app has been connected for {Seconds:F0} s: nothing is executed until one is")]
    public static partial void AppMissing(this ILogger logger, double seconds);

    /// <summary>
    /// A message has been executed for longer than --handler-warning, live or on replay, most often because its handler loops or waits; it
    /// is written again after ever longer times, up to 10 min. Behind the Lsn stands its index in the record, if the app says it. Look at
    /// it with 'ambrosia log DIR --records --from LSN', and at the app's stacks. No standby takes over.
    /// </summary>
    [LoggerMessage(EventId = 812, EventName = "app.record.hangs", Level = LogLevel.Error,
        Message = "the app has been executing the record at Lsn {At} for {Seconds:F0} s; it was given all below {DeliveredTo}")]
    public static partial void RecordHangs(this ILogger logger, ExecutingPlace at, double seconds, Lsn deliveredTo);

    /// <summary>
    /// The app has executed everything and was told to become primary, and its frame PrimaryReady does not come: the method BecomingPrimary
    /// does not come back. Nobody is let in before it has; it is written again after ever longer times, up to 10 min.
    /// </summary>
    [LoggerMessage(EventId = 813, EventName = "app.becoming.hangs", Level = LogLevel.Error,
        Message = "the app has been in BecomingPrimary for {Seconds:F0} s: it has executed all below {At}, and PrimaryReady does not come")]
    public static partial void BecomingPrimaryHangs(this ILogger logger, double seconds, Lsn at);

    /// <summary>The app goes on, or one has connected.</summary>
    [LoggerMessage(EventId = 814, EventName = "app.resumed", Level = LogLevel.Information,
        Message = "the app goes on, after {Seconds:F0} s")]
    public static partial void AppResumed(this ILogger logger, double seconds);
}
