// One run of a task's body by this process: attempts, pauses, deadline, and at the end the one report. It starts nothing itself: the runner
// does. Threads: made and started on the scheduler's, runs on the runner's. Invariant: at most one report.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class TaskRun(IPendingTask task, string key, TaskReports reports, ITaskRunner runner, CancellationToken sessionEnded)
{
    /// <summary>Timers of the runtime reach 49 days; a longer time is waited for in pieces.</summary>
    private static readonly TimeSpan s_waitMax = TimeSpan.FromDays(40);

    private readonly NondetOptions options = task.Options;
    private readonly CancellationTokenSource stopped = CancellationTokenSource.CreateLinkedTokenSource(sessionEnded);
    private ITimer? deadline;

    /// <summary>Until the deadline, behind the timer's present wait.</summary>
    private TimeSpan rest;
    private int reported;

    /// <summary>Part of the handler that began the task, in a primary alone: it must not throw, since no replay would.</summary>
    internal void Start()
    {
        if (options.Deadline is { } limit)
        {
            TimeSpan passed = runner.Time.GetUtcNow() - DateTimeOffset.UnixEpoch.AddMicroseconds(task.BegunUs);
            rest = limit - (passed > TimeSpan.Zero ? passed : TimeSpan.Zero);
            if (rest <= TimeSpan.Zero)
            {
                runner.Start(TimeOut);
                return;
            }
            deadline = runner.Time.CreateTimer(static run => ((TaskRun)run!).TimerFired(), this, Timeout.InfiniteTimeSpan,
                Timeout.InfiniteTimeSpan);
            Arm();
        }
        runner.Start(Run);
    }

    private async Task Run()
    {
        (bool failed, byte[] result) = await Outcome().ConfigureAwait(false);
        if (deadline is not null) await deadline.DisposeAsync().ConfigureAwait(false);
        Report(failed, result);
        stopped.Dispose();
    }

    private async Task<(bool Failed, byte[] Result)> Outcome()
    {
        TimeSpan pause = options.Backoff;
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                return (false, await task.RunBody(new NondetContext(key, attempt, stopped.Token)).ConfigureAwait(false));
            }
            catch (Exception e) when (e is not OutOfMemoryException)
            {
                if (attempt < options.Attempts && pause > TimeSpan.Zero) await Pause(pause).ConfigureAwait(false);
                if (attempt >= options.Attempts || stopped.IsCancellationRequested) return (true, Encoded(e));
            }
            pause = pause < options.BackoffMax / 2 ? pause * 2 : options.BackoffMax;
        }
    }

    private async Task Pause(TimeSpan pause)
    {
        for (; pause > TimeSpan.Zero && !stopped.IsCancellationRequested; pause -= s_waitMax)
            await Task.Delay(Shorter(pause, s_waitMax), runner.Time, stopped.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private void Arm()
    {
        TimeSpan wait = Shorter(rest, s_waitMax);
        rest -= wait;
        deadline!.Change(wait, Timeout.InfiniteTimeSpan);
    }

    private void TimerFired()
    {
        if (rest > TimeSpan.Zero) Arm();
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
        Report(true, Encoded(new TimeoutException($"The task gave no result within {options.Deadline}.")));
        stopped.Cancel();
    }

    private void Report(bool failed, byte[] result)
    {
        if (Interlocked.Exchange(ref reported, 1) != 0) return;
        if (result.Length > reports.ResultBytesMax)
        {
            string why =
                $"The result of {result.Length} bytes is longer than the limit of {reports.ResultBytesMax} bytes; the coordinator's --max-message sets it.";
            (failed, result) = (true, Encoded(new InvalidOperationException(why)));
        }
        reports.Send(task.Number, failed, result);
    }

    private static byte[] Encoded(Exception failure)
    {
        var encoded = new ArrayBufferWriter<byte>();
        Failures.Write(encoded, failure);
        return encoded.WrittenSpan.ToArray();
    }
}
