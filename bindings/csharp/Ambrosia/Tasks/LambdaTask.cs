namespace Ambrosia;

/// <summary>
/// The sugar form: the body is a delegate. While one is outstanding a checkpoint holds the delegate with what it captures, as any other
/// that is alive over an await; what of it cannot be written postpones the checkpoint.
/// </summary>
internal sealed class LambdaTask<T>(
    ulong number, long begunUs, NondetOptions options, Delegate body) : PendingTask<T>(number, begunUs, options)
{
    /// <summary>Null once it is done: what it captures need not be writable any more.</summary>
    private Delegate? body = body;

    private protected override async Task<T> Body(NondetContext context)
    {
        switch (body)
        {
            case Func<Task<T>> start: return await start().ConfigureAwait(false);
            case Func<NondetContext, Task<T>> start: return await start(context).ConfigureAwait(false);
            case Func<T> compute: return compute();
            case Func<NondetContext, T> compute: return compute(context);
            case Func<Task> start: await start().ConfigureAwait(false); return default!;
            case Func<NondetContext, Task> start: await start(context).ConfigureAwait(false); return default!;
            case Action act: act(); return default!;
            case Action<NondetContext> act: act(context); return default!;
            default: throw new InvalidOperationException($"The body of a task is a {body?.GetType()}.");
        }
    }

    private protected override void DropBody() => body = null;
}
