// Runs an immortal's handlers and their continuations: one thread, log order. Continuations that became ready are drained before the
// next message. Invariant: between records the ready queue is empty; a checkpoint is possible when nothing is suspended either.
namespace Ambrosia;

internal sealed class Scheduler(ImmortalRuntime runtime)
{
    [ThreadStatic]
    private static Scheduler? executing;

    /// <summary>While a query runs nothing is executing, so that whatever handlers may do is refused on its rare path.</summary>
    [ThreadStatic]
    private static bool querying;

    private readonly Queue<Ready> ready = new();
    private int framesSuspended;

    /// <summary>The scheduler whose handlers this thread is executing.</summary>
    /// <exception cref="InvalidOperationException">It executes none.</exception>
    internal static Scheduler Current => executing ?? throw NoHandler();

    /// <summary>True while this thread executes handlers of this immortal: what is sent then is numbered, not an impulse.</summary>
    internal bool IsExecuting => ReferenceEquals(executing, this);

    internal ImmortalRuntime Runtime { get; } = runtime;

    /// <summary>True while this thread executes handlers of some immortal.</summary>
    internal static bool IsAnyExecuting => executing is not null;

    /// <summary>True while this thread answers a query of some immortal.</summary>
    internal static bool IsAnyQuerying => querying;

    /// <summary>Callers' answers that wait for a suspended handler.</summary>
    internal int AnswersOwed { get; set; }

    /// <summary>No handler is suspended: the state alone says everything.</summary>
    internal bool IsQuiet => framesSuspended == 0 && AnswersOwed == 0 && ready.Count == 0;

    internal int FramesSuspended => framesSuspended;

    /// <summary>Something is to go on before the next message.</summary>
    internal bool HasReady => ready.Count > 0;

    /// <summary>Nothing is about to run: between records always, and only then an image can be taken.</summary>
    internal bool IsDrained => ready.Count == 0 && executing is null;

    /// <summary>Until what it returns is disposed this thread executes handlers of this immortal.</summary>
    internal Execution Enter()
    {
        if (executing is not null) throw new InvalidOperationException("A handler drives an app session: one session feeds another.");
        executing = this;
        return default;
    }

    internal void EnterQuery()
    {
        if (!IsDrained || querying) throw new InvalidOperationException("A query is answered between records, when nothing runs.");
        querying = true;
    }

    internal void ExitQuery() => querying = false;

    internal void FrameSuspended() => framesSuspended++;

    internal void FrameFinished() => framesSuspended--;

    internal void Restore(int frames, int answers)
    {
        if (frames < 0 || answers < 0)
            throw new InvalidDataException($"The image counts {frames} suspended methods and {answers} answers.");
        (framesSuspended, AnswersOwed) = (frames, answers);
    }

    internal void MakeReady(Source source) => ready.Enqueue(new Ready(source));

    internal void Drain()
    {
        while (ready.TryDequeue(out Ready next)) next.Source.Resume();
    }

    private static InvalidOperationException NoHandler() => IsAnyQuerying ? Queries.Refusal("waits") : new InvalidOperationException(
        "Methods that return Call run only as handlers of an immortal, on its scheduler.");

    /// <summary>
    /// A struct, so that the queue's array is of exactly what it holds: one of a base class checks the type at each store.
    /// </summary>
    private readonly struct Ready(Source source)
    {
        internal Source Source => source;
    }

    internal readonly ref struct Execution
    {
        public void Dispose() => executing = null;
    }
}
