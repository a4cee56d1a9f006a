using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// A NondetTask that somebody waits for: done when the first record with its result is executed. Ordinary fields, so that it is part of an
/// image as any other object; how its body is found again is the subclass's.
/// </summary>
internal abstract class PendingTask<T>(ulong number, long begunUs, NondetOptions options) : Source<T>, IPendingTask
{
    private readonly ulong number = number;
    private readonly long begunUs = begunUs;
    private readonly int attempts = options.Attempts;
    private readonly TimeSpan backoff = options.Backoff, backoffMax = options.BackoffMax;
    private readonly TimeSpan? deadline = options.Deadline;

    ulong IPendingTask.Number => number;

    Source IPendingTask.Source => this;

    long IPendingTask.BegunUs => begunUs;

    NondetOptions IPendingTask.Options => new() { Attempts = attempts, Backoff = backoff, BackoffMax = backoffMax, Deadline = deadline };

    async Task<byte[]> IPendingTask.RunBody(NondetContext context)
    {
        T value = await Body(context).ConfigureAwait(false);
        var encoded = new ArrayBufferWriter<byte>();
        ValueImage.Write(encoded, value);
        return encoded.WrittenSpan.ToArray();
    }

    void IPendingTask.Take(NondetResultRecord record, Func<InstanceId, ProxyTarget> targetOf)
    {
        DropBody();
        if (record.Failed)
        {
            Fail(Failures.Read(record.Result.Span, [], 0));
            return;
        }
        T value;
        try
        {
            value = ValueImage.Read<T>(record.Result.Span, targetOf);
        }
        catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
        {
            // What was logged is not what this version of the app says; who awaits it must learn that, like any other failure.
            Fail(new RemoteCallException(e.GetType().FullName!, $"The result of task {number} could not be decoded: {e.Message}"));
            return;
        }
        Complete(value);
    }

    /// <summary>On the runner's thread.</summary>
    private protected abstract Task<T> Body(NondetContext context);

    /// <summary>It is not run any more.</summary>
    private protected virtual void DropBody()
    {
    }
}
