namespace CRA.Links;

/// <summary>
/// Starts threads, which the system may refuse for a while: at the limit of its processes, or without memory for a stack. Each has one
/// outermost catch, and its starter says what follows: an exception that left a thread would end the process without its line and
/// its exit code. Any thread.
/// </summary>
public static class Threads
{
    /// <summary>
    /// Decides by a thread's name whether its start is refused; null: the system alone decides. Tests set it, which cannot lower the limit
    /// of a process of root's.
    /// </summary>
    internal static Func<string, bool>? Refuses { get; set; }

    /// <summary>Starts a background thread and returns it, or null if the system has none to give now.</summary>
    /// <param name="fell">Hears, on that thread, of the exception that has left <paramref name="run"/>.</param>
    public static Thread? TryStart(string name, Action run, Action<Exception> fell)
    {
        var made = new Thread(() => Guard(run, fell)) { Name = name, IsBackground = true };
        try
        {
            if (Refuses?.Invoke(name) == true) throw new OutOfMemoryException("refused by a test");
            made.Start();
            return made;
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            return null;
        }
    }

    /// <summary>Runs on this thread what is guarded as a thread that is started.</summary>
    public static void Guard(Action run, Action<Exception> fell)
    {
        try
        {
            run();
        }
        catch (Exception fatal)
        {
            fell(fatal);
        }
    }
}
