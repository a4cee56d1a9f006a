using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Decides when a checkpoint is due: after so many bytes of log and outputs, after so much time, or when the app or the operator asks. One
/// at a time; one that came to nothing is tried again after a pause that grows. Whoever ticks has the mark logged. Any thread; time is
/// that of the last tick, by the monotonic clock.
/// </summary>
/// <param name="everyBytes">Log bytes between checkpoints; of outputs, <see cref="OutputShare"/> times as many.</param>
/// <param name="interval">Time between checkpoints; null: time does not count.</param>
/// <param name="lastInput">
/// The place of the last input that the app was given, without which none is due; it takes no lock. Null: there always is one.
/// </param>
internal sealed class CheckpointTrigger(long everyBytes, TimeSpan? interval = null, Func<Lsn>? lastInput = null)
{
    /// <summary>
    /// Replay makes outputs again, so few inputs with many outputs make a long one too. Not one for one: a checkpoint holds the outputs
    /// that are not trimmed, so that it is dearer where there are many.
    /// </summary>
    public const int OutputShare = 4;

    private static readonly TimeSpan s_pauseMin = TimeSpan.FromSeconds(1), s_pauseMax = TimeSpan.FromMinutes(1);

    private readonly RankedLock _gate = new(LockRank.CheckpointTrigger);
    private CheckpointFileName? _last;
    private bool _isUnderWay;

    /// <summary>
    /// Count is the number of checkpoints that failed; Why is the reason of the last failure, or null if a checkpoint was published since.
    /// Refusal is why the app's state cannot be in a checkpoint, or null if the app has written one since it said so.
    /// </summary>
    private (long Count, string? Why, string? Refusal) _failures;

    /// <summary>Somebody wants a checkpoint at or behind this; null: nobody does.</summary>
    private Lsn? _wanted;

    /// <summary>These are the bytes that apps had emitted at the last mark, and at that of the last one that was published.</summary>
    private (long AtMark, long Before) _emitted;

    private TimeSpan _now;

    /// <summary>No mark is logged before this; the pause after the next failure.</summary>
    private (TimeSpan At, TimeSpan Pause) _retry = (default, s_pauseMin);

    /// <summary>
    /// The last one was published at this time, or that of the first tick less its age when the start found it; null before that.
    /// </summary>
    private (TimeSpan? At, TimeSpan Age) _since;

    public CheckpointStatus Status
    {
        get
        {
            using (_gate.Enter())
            {
                TimeSpan? age = _last is null ? null : _now - _since.At ?? _since.Age;
                return new CheckpointStatus(_last, _isUnderWay, _failures.Count, _failures.Why) { Age = age, Refusal = _failures.Refusal };
            }
        }
    }

    /// <summary>One was asked for, or is under way.</summary>
    public bool IsDue { get { using (_gate.Enter()) return _isUnderWay || _wanted is not null; } }

    /// <summary>The newest checkpoint that the start found.</summary>
    /// <param name="age">By the wall clock, which may have been set since: one from the future counts as taken now.</param>
    public void Found(CheckpointFileName name, TimeSpan age)
    {
        using (_gate.Enter())
        {
            _last = name;
            (_since.At, _since.Age) = (null, age > TimeSpan.Zero ? age : TimeSpan.Zero);
        }
    }

    public void Published(CheckpointFileName name)
    {
        using (_gate.Enter())
        {
            _last = name;
            _since.At = _now;
            _emitted.Before = _emitted.AtMark;
            _retry.Pause = s_pauseMin;
            _isUnderWay = false;
            _failures.Why = null;
            if (_wanted <= name.Lsn) _wanted = null;
        }
    }

    /// <summary>Somebody wants a checkpoint of all that is below <paramref name="durable"/>, as soon as one can be taken.</summary>
    public void Request(Lsn durable)
    {
        using (_gate.Enter())
        {
            if (_wanted is null || _wanted < durable) _wanted = durable;
            _retry.At = _now;
        }
    }

    /// <summary>The one under way came to nothing, or keeps us waiting for too long; after a pause the next one tries again.</summary>
    public void Failed(string because)
    {
        using (_gate.Enter())
        {
            if (!_isUnderWay) return;
            End(because);
            _retry.At = _now + _retry.Pause;
            _retry.Pause = _retry.Pause * 2 < s_pauseMax ? _retry.Pause * 2 : s_pauseMax;
        }
    }

    /// <summary>The app says that its state cannot be in a checkpoint. True: it has not said so before, or for another reason.</summary>
    public bool Refused(string why)
    {
        using (_gate.Enter())
        {
            if (_failures.Refusal == why) return false;
            _failures.Refusal = why;
            return true;
        }
    }

    /// <summary>The app has written its state down.</summary>
    public void Written()
    {
        using (_gate.Enter()) _failures.Refusal = null;
    }

    /// <summary>The app went away: the next session begins anew.</summary>
    public void SessionEnded()
    {
        using (_gate.Enter()) if (_isUnderWay) End("the app's session ended before it was written");
    }

    private void End(string because)
    {
        _isUnderWay = false;
        _failures = (_failures.Count + 1, because, _failures.Refusal);
    }

    /// <summary>True: a mark is to be logged now.</summary>
    /// <param name="now">Monotonic, so that a clock that is set moves no checkpoint.</param>
    public bool Claim(Lsn durable, EmittedBytes outputs, TimeSpan now)
    {
        using (_gate.Enter())
        {
            _now = now;
            _since.At ??= now - _since.Age;
            if (_isUnderWay || now < _retry.At || (_wanted is null && !(HasInput && (IsDueBySize(durable, outputs) || IsDueByTime()))))
                return false;
            _emitted.AtMark = outputs.Total;
            return _isUnderWay = true;
        }
    }

    /// <summary>The log had no room for the mark: claimed again at the next tick.</summary>
    public void GiveBack()
    {
        using (_gate.Enter()) _isUnderWay = false;
    }

    // A replica may have published one beyond what the caller last saw as durable.
    private bool IsDueBySize(Lsn durable, EmittedBytes outputs)
    {
        Lsn from = _last?.Lsn ?? Lsn.Zero;
        long counted = Math.Max(outputs.Total - _emitted.Before - outputs.Spilled * OutputShare, 0) / OutputShare;
        return durable > from && durable - from >= everyBytes - counted;
    }

    private bool IsDueByTime() => interval is { } limit && _now - _since.At >= limit;

    /// <summary>
    /// A log that rests grows with each mark, and with what else keeps it in order: no checkpoint follows from that alone.
    /// </summary>
    private bool HasInput => lastInput is null || _last is not { } last || lastInput() >= last.Lsn;
}

/// <summary>Tells how the checkpoints of a replica are getting on.</summary>
/// <param name="Last">The newest that is published or was found at the start; null: none.</param>
/// <param name="Failures">Marks that came to nothing since the start.</param>
/// <param name="Why">What became of the last of these.</param>
internal readonly record struct CheckpointStatus(CheckpointFileName? Last, bool IsUnderWay, long Failures, string? Why)
{
    /// <summary>How long ago the last was published, at the last tick of a primary; null: there is none.</summary>
    public TimeSpan? Age { get; init; }

    /// <summary>What of the app's state no checkpoint can hold; null: nothing is known.</summary>
    public string? Refusal { get; init; }
}
