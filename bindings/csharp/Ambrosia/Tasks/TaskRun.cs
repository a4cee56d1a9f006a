// One run of a task's body by this process: attempts, pauses, deadline, and at the end the one report. It starts nothing itself: the runner does.
// Threads: made and started on the scheduler's, runs on the runner's. Invariant: at most one report.
using System.Buffers;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class TaskRun(IPendingTask task, string key, TaskReports reports, ITaskRunner runner, CancellationToken sessionEnded)
{
    private readonly NondetOptions options = task.Options;
    private readonly CancellationTokenSource stopped = CancellationTokenSource.CreateLinkedTokenSource(sessionEnded);
    private ITimer? deadline;
    private int reported;

    internal void Start()
    {
        if (options.Deadline is { } limit)
        {
            TimeSpan left = DateTimeOffset.UnixEpoch.AddMicroseconds(task.BegunUs) + limit - runner.Time.GetUtcNow();
            if (left <= TimeSpan.Zero)
            {
                runner.Start(TimeOut);
                return;
            }
            deadline = runner.Time.CreateTimer(static run => ((TaskRun)run!).TimedOut(), this, left, Timeout.InfiniteTimeSpan);
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
                if (attempt < options.Attempts && pause > TimeSpan.Zero) await Pause(pause);
                if (attempt >= options.Attempts || stopped.IsCancellationRequested) return (true, Encoded(e));
            }
            pause = pause * 2 < options.BackoffMax ? pause * 2 : options.BackoffMax;
        }
    }

    private ConfiguredTaskAwaitable Pause(TimeSpan pause) =>
        Task.Delay(pause, runner.Time, stopped.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

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
            string why = $"The result of {result.Length} bytes is longer than the limit of {reports.ResultBytesMax} bytes; the coordinator's --max-message sets it.";
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
