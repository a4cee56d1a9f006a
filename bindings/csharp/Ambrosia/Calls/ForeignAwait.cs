namespace Ambrosia.Calls;

/// <summary>Makes the refusals of awaits that could not be replayed.</summary>
internal static class ForeignAwait
{
    internal static InvalidOperationException NotInHandler() => new(
        "This Call belongs to a handler: await it only in methods of the immortal that return Call or Call<T>.");

    internal static InvalidOperationException UnfinishedInTest() => new(
        "This Call has not finished: answer the calls and tasks that its handler awaits, or let time pass, with the TestSession.");

    /// <summary>
    /// Lets a unit test go on that awaits what a handler returned. If the handler has not finished, the result is not there, which the test
    /// is told where it takes the result: what an awaiter throws here would end the process.
    /// </summary>
    /// <exception cref="InvalidOperationException">This is no such test.</exception>
    internal static void GoOnInTest(Source awaited, Action continuation)
    {
        if (!Scheduler.IsDoneInTest(awaited) && !Scheduler.IsAnyOfTest) throw NotInHandler();
        continuation();
    }

    internal static InvalidOperationException Of(Type awaiter, Type machine) => new(
        $"{MethodOf(machine)} awaits a {awaiter}, whose completion is not in the log. Inside an immortal only a Call can be awaited.");

    internal static InvalidOperationException ImpulseInHandler() => new(
        "An impulse that was sent from outside the handlers is awaited inside one; await it where it was sent.");

    /// <summary>The name of the async method, out of the compiler's <c>Type+&lt;Method&gt;d__7</c>.</summary>
    private static string MethodOf(Type machine)
    {
        string name = machine.Name;
        int end = name.IndexOf('>');
        return name.StartsWith('<') && end > 1 ? $"{machine.DeclaringType}.{name[1..end]}" : machine.ToString();
    }
}

/// <summary>Gives the builder of a Call what an awaiter waits for. Everything else that is awaited inside an immortal is refused.</summary>
internal interface ICallAwaiter
{
    /// <summary>The source that it awaits; it is never null when the awaiter is not complete.</summary>
    Source? Source { get; }
}
