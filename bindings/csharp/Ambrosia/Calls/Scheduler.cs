namespace Ambrosia.Calls;

/// <summary>
/// The scheduler runs the handlers of one immortal and their continuations: on one thread, in log order. It resumes continuations that
/// became ready before it lets the next message in. Thread: the scheduler's own, which is whichever thread feeds the session. Invariant:
/// between records its ready queue is empty; if no method is suspended either, a checkpoint is possible.
/// </summary>
internal sealed class Scheduler(IHandlerSession session)
{
    /// <summary>The index where no record is being executed.</summary>
    internal const uint NoMessage = uint.MaxValue;

    [ThreadStatic]
    private static Scheduler? s_executing;

    /// <summary>
    /// True while a query runs on this thread. Then nothing is executing, so that whatever handlers may do is refused on its rare path.
    /// </summary>
    [ThreadStatic]
    private static bool s_querying;

    /// <summary>
    /// A conversion runs on this thread, which makes one state of another. As with a query nothing is executing, so that its refusals
    /// cost handlers nothing.
    /// </summary>
    [ThreadStatic]
    private static bool s_converting;

    /// <summary>The first thing that the conversion on this thread was refused; it may have caught the exception.</summary>
    [ThreadStatic]
    private static NotInConversionException? s_refused;

    /// <summary>The scheduler of the immortal that this flow of a unit test used last; null: it is no such test.</summary>
    private static readonly AsyncLocal<Scheduler?> s_ofTest = new();

    private readonly Queue<Ready> _ready = new();
    private int _framesSuspended;

    /// <summary>The scheduler whose handlers this thread is executing.</summary>
    /// <exception cref="InvalidOperationException">It executes none.</exception>
    internal static Scheduler Current => s_executing ?? OutsideOfSessions();

    /// <summary>True while this thread executes handlers of this immortal: what is sent then is numbered, not an impulse.</summary>
    internal bool IsExecuting => ReferenceEquals(s_executing, this);

    internal IHandlerSession Session { get; } = session;

    /// <summary>True while this thread executes handlers of some immortal.</summary>
    internal static bool IsAnyExecuting => s_executing is not null;

    /// <summary>
    /// True if it is that of a unit test: there is no session, and handlers run wherever the test calls them. <see cref="IsExecuting"/>
    /// stays false, so that tests cost the handlers of a session nothing.
    /// </summary>
    internal bool IsOfTest { get; init; }

    /// <summary>True while a unit test runs that has used an immortal.</summary>
    internal static bool IsAnyOfTest => s_ofTest.Value is not null;

    /// <summary>True while this thread converts a state.</summary>
    internal static bool IsAnyConverting => s_converting;

    /// <summary>True while this thread answers a query of some immortal.</summary>
    internal static bool IsAnyQuerying => s_querying;

    /// <summary>
    /// The index in its record of the message that is being executed; <see cref="NoMessage"/> between records. The scheduler's thread
    /// writes it, and any thread may read what was true a moment before.
    /// </summary>
    internal uint MessageIndex { get; set; } = NoMessage;

    /// <summary>The number of answers to callers that wait for a suspended handler.</summary>
    internal int AnswersOwed { get; set; }

    /// <summary>True if no handler is suspended: then the state alone says everything.</summary>
    internal bool IsQuiet => _framesSuspended == 0 && AnswersOwed == 0 && _ready.Count == 0;

    internal int FramesSuspended => _framesSuspended;

    /// <summary>True if something is to go on before the next message.</summary>
    internal bool HasReady => _ready.Count > 0;

    /// <summary>True if nothing is about to run. It is between records, and only then an image can be taken.</summary>
    internal bool IsDrained => _ready.Count == 0 && s_executing is null;

    /// <summary>Lets this thread execute handlers of this immortal until what it returns is disposed.</summary>
    internal Execution Enter()
    {
        if (s_executing is not null) throw new BindingMisuseException(Misuse.SessionInHandler);
        s_executing = this;
        return default;
    }

    /// <summary>Makes the scheduler of a test the one that runs what this flow of the test calls next.</summary>
    internal void EnterTest()
    {
        if (!ReferenceEquals(s_ofTest.Value, this)) s_ofTest.Value = this;
    }

    /// <summary>
    /// Lets a unit test go on with what its last call made ready, and says whether <paramref name="awaited"/> is done then. A session does
    /// that behind each message.
    /// </summary>
    internal static bool IsDoneInTest(Source awaited)
    {
        if (s_executing is null && s_ofTest.Value is { } test) test.Drain();
        return awaited.IsDone;
    }

    internal void EnterQuery()
    {
        if (!IsDrained || s_querying) throw new InvalidOperationException("A query is answered between records, when nothing runs.");
        s_querying = true;
    }

    internal void ExitQuery() => s_querying = false;

    /// <summary>Lets this thread make one state of another until what it returns is disposed.</summary>
    internal Conversion EnterConversion()
    {
        if (!IsDrained || s_querying || s_converting)
            throw new InvalidOperationException("A state is converted between records, when nothing runs.");
        (s_converting, s_refused) = (true, null);
        return default;
    }

    internal void FrameSuspended() => _framesSuspended++;

    internal void FrameFinished() => _framesSuspended--;

    internal void Restore(int frames, int answers)
    {
        if (frames < 0 || answers < 0)
            throw new InvalidDataException($"The image counts {frames} suspended methods and {answers} answers.");
        (_framesSuspended, AnswersOwed) = (frames, answers);
    }

    /// <summary>This has failed in a handler, and nobody waits for it.</summary>
    internal static void FailedUnawaited(Source failed) => s_executing?.Session.FailedUnawaited(failed);

    internal void MakeReady(Source source) => _ready.Enqueue(new Ready(source));

    internal void Drain()
    {
        while (_ready.TryDequeue(out Ready next)) next.Source.Resume();
    }

    /// <summary>Makes the refusal of what only handlers do.</summary>
    internal static InvalidOperationException QueryRefusal(string what) => new NotInQueryException(what);

    /// <summary>Refuses what handlers alone may do where this thread answers a query or converts a state.</summary>
    internal static void RefuseOutsideHandlers(string what)
    {
        if (s_querying) throw QueryRefusal(what);
        if (s_converting) throw ConversionRefusal(what);
    }

    private static NotInConversionException ConversionRefusal(string what)
    {
        var refusal = new NotInConversionException(what);
        s_refused ??= refusal;
        return refusal;
    }

    private static Scheduler OutsideOfSessions() => s_ofTest.Value ?? throw NoHandler();

    private static InvalidOperationException NoHandler()
    {
        RefuseOutsideHandlers("waits");
        return new BindingMisuseException(Misuse.NotInHandler);
    }

    /// <summary>
    /// A source that is ready. It is a struct so that the queue's array is of exactly what it holds: an array of a base class checks the
    /// type at each store.
    /// </summary>
    private readonly struct Ready(Source source)
    {
        internal Source Source => source;
    }

    internal readonly ref struct Conversion
    {
        /// <exception cref="NotInConversionException">The conversion was refused something, and has gone on without it.</exception>
        public void Finish()
        {
            if (s_refused is { } refused) throw refused;
        }

        public void Dispose() => (s_converting, s_refused) = (false, null);
    }

    internal readonly ref struct Execution
    {
        public void Dispose() => s_executing = null;
    }
}

/// <summary>Serves suspended calls and handlers; the session that runs them implements it. Thread: the scheduler's.</summary>
internal interface IHandlerSession
{
    /// <summary>Begins a timer that is done when so much time of the log has passed.</summary>
    Source<Nothing> BeginDelay(TimeSpan time);

    /// <summary>Ends a timer for which nobody waits any more. If it has fired, that has no effect.</summary>
    void CancelDelay(Source<Nothing> timer);

    /// <summary>A call, a task or a method has failed, and nobody waits for it.</summary>
    void FailedUnawaited(Source failed);

    /// <summary>Sends the answer of a handler that had been suspended and has finished: <paramref name="owed"/> waited for it.</summary>
    void SendOwed(Source owed);
}
