using System.Buffers;
using Ambrosia.Failures;
using Ambrosia.Impulses;
using Ambrosia.Outbound;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Tasks;

/// <summary>
/// One run of a task's body by this process: attempts, pauses, deadline, and at the end the one report. It starts nothing itself; the
/// runner does. Threads: the scheduler's makes and starts it, the runner's run it. Invariant: it reports at most once.
/// </summary>
internal sealed class TaskRun(
    IPendingTask task, BodyOfTask body, string key, TaskReports reports, ITaskRunner runner, CancellationToken sessionEnded)
{
    /// <summary>The longest single wait. Timers of the runtime reach 49 days; a longer time is waited for in pieces.</summary>
    private static readonly TimeSpan s_waitMax = TimeSpan.FromDays(40);

    private readonly NondetOptions _options = task.Options;
    private readonly StopSignal _stopped = new($"task {task.Number}", reports.Log, sessionEnded);
    private ITimer? _deadline;

    /// <summary>The time that is left until the deadline, behind the timer's present wait.</summary>
    private TimeSpan _rest;
    private int _reported;

    /// <summary>
    /// Starts the run. It is part of the handler that began the task, in a primary alone, so it must not throw, since no replay would.
    /// </summary>
    /// <param name="isNew">The handler begins the task now, whatever the time of the log is, which need not be that of the clock.</param>
    internal void Start(bool isNew)
    {
        if (_options.Deadline is { } limit)
        {
            TimeSpan passed =
                isNew ? TimeSpan.Zero : runner.Time.GetUtcNow() - DateTimeOffset.UnixEpoch.AddMicroseconds(task.BegunUs);
            _rest = limit - (passed > TimeSpan.Zero ? passed : TimeSpan.Zero);
            if (_rest <= TimeSpan.Zero)
            {
                runner.Start(TimeOut);
                return;
            }
            _deadline = runner.Time.CreateTimer(static run => ((TaskRun)run!).TimerFired(), this, Timeout.InfiniteTimeSpan,
                Timeout.InfiniteTimeSpan);
            Arm();
        }
        runner.StartBody(body, Run);
    }

    private async Task Run()
    {
        (bool failed, byte[] result) = await Outcome().ConfigureAwait(false);
        if (_deadline is not null) await _deadline.DisposeAsync().ConfigureAwait(false);
        Report(failed, result);
        runner.BodyEnded(task.Number);
        await _stopped.DisposeAsync().ConfigureAwait(false);
    }

    private async Task<(bool Failed, byte[] Result)> Outcome()
    {
        TimeSpan pause = _options.Backoff;
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                return (false, await RunAttempt(attempt).ConfigureAwait(false));
            }
            catch (Exception e) when (e is not (OutOfMemoryException or LockOrderException))
            {
                bool isLast = attempt >= _options.Attempts || !IsWorthAnother(e);
                if (!isLast && pause > TimeSpan.Zero) await Pause(pause).ConfigureAwait(false);
                if (isLast || _stopped.IsRaised) return (true, Encoded(Described(e)));
            }
            pause = pause < _options.BackoffMax / 2 ? pause * 2 : _options.BackoffMax;
        }
    }

    private async Task<byte[]> RunAttempt(int attempt)
    {
        var scope = new TaskScope(runner.Services);
        try
        {
            return await task.RunBody(new NondetContext(key, attempt, _stopped.Token) { Scope = scope }).ConfigureAwait(false);
        }
        finally
        {
            await Close(scope).ConfigureAwait(false);
        }
    }

    /// <summary>Disposes of the services of one attempt. The outcome is the body's, whatever a service throws here.</summary>
    private async Task Close(TaskScope scope)
    {
        try
        {
            await scope.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is not (OutOfMemoryException or LockOrderException))
        {
            reports.Log($"A service of task {task.Number} has thrown when it was disposed of; the result of the task is that of its body: {FailureCodec.Whole(e)}");
        }
    }

    /// <summary>Asks the app, whose answer may be a failure, too: the body's is the one that counts.</summary>
    private bool IsWorthAnother(Exception failure)
    {
        try
        {
            return _options.IsWorthAnother(failure);
        }
        catch (Exception e) when (e is not (OutOfMemoryException or LockOrderException))
        {
            return false;
        }
    }

    private async Task Pause(TimeSpan pause)
    {
        for (; pause > TimeSpan.Zero && !_stopped.IsRaised; pause -= s_waitMax)
            await Task.Delay(Shorter(pause, s_waitMax), runner.Time, _stopped.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private void Arm()
    {
        TimeSpan wait = Shorter(_rest, s_waitMax);
        _rest -= wait;
        _deadline!.Change(wait, Timeout.InfiniteTimeSpan);
    }

    private void TimerFired()
    {
        if (_rest > TimeSpan.Zero) Arm();
        else TimedOut();
    }

    private static TimeSpan Shorter(TimeSpan a, TimeSpan b) => a < b ? a : b;

    private Task TimeOut()
    {
        TimedOut();
        return Task.CompletedTask;
    }

    private void TimedOut()
    {
        Report(true, Encoded(ListedFailures.Timeout()));
        _stopped.Raise();
    }

    private void Report(bool failed, byte[] result)
    {
        if (Interlocked.Exchange(ref _reported, 1) != 0) return;
        if (result.Length > reports.ResultBytesMax)
        {
            (failed, result) = (true, Encoded(ListedFailures.TooLong(reports.ResultBytesMax)));
        }
        reports.Send(task.Number, failed, result);
    }

    /// <summary>
    /// Describes what a body failed with. That is an input, which is logged with whatever words it has (protocol P4.7), and no stack goes
    /// with it: so whoever misuses the binding in a body is told here what is wrong.
    /// </summary>
    private static FailureInfo Described(Exception failure)
    {
        FailureInfo info = AsItIs(failure, FailureInfo.Of(failure));
        return ListedFailures.NeedsWords(info) ? info with { Message = failure.Message } : info;
    }

    /// <summary>
    /// Takes back the list's name for a failure that a handler let through (protocol P4.6). In a body there is no such handler: an
    /// exception that it made itself, or got as a caller outside, is the task's own failure.
    /// </summary>
    private static FailureInfo AsItIs(Exception failure, FailureInfo info)
    {
        if (failure is RemoteCallException) return info.Inner!;
        return failure.InnerException is null || info.Inner is null ? info
            : info with { Inner = AsItIs(failure.InnerException, info.Inner) };
    }

    private static byte[] Encoded(FailureInfo failure)
    {
        var encoded = new ArrayBufferWriter<byte>();
        FailureCodec.Write(encoded, failure);
        return encoded.WrittenSpan.ToArray();
    }
}

/// <summary>Sends tasks' results to the coordinator (protocol P5.15), among the impulses. Any thread may call it.</summary>
internal sealed class TaskReports(ImpulseIngress ingress, OutboundBuffer outbound, Action<string> log)
{
    /// <summary>Takes a line for the operator.</summary>
    internal Action<string> Log => log;

    internal bool IsPrimary => ingress.IsOpen;

    internal long ResultBytesMax => outbound.MessageBytesMax;

    /// <summary>
    /// Sends a result. It waits while too much is unsent. Behind the session's end the result is dropped: the next primary runs the task
    /// again.
    /// </summary>
    internal void Send(ulong task, bool failed, ReadOnlySpan<byte> result)
    {
        var payload = new ArrayBufferWriter<byte>(TaskResult.HeadBytes + result.Length);
        TaskResult.WriteHead(payload, task, failed);
        payload.Write(result);
        ingress.SendFrame(FrameType.TaskResult, payload.WrittenSpan);
    }
}
