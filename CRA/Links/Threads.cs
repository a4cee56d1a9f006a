namespace CRA.Links;

/// <summary>
/// Starts threads, which the system may refuse for a while: at the limit of its processes, or without memory for a stack. Any thread.
/// </summary>
public static class Threads
{
    /// <summary>
    /// Decides by a thread's name whether its start is refused; null: the system alone decides. Tests set it, which cannot lower the limit
    /// of a process of root's.
    /// </summary>
    internal static Func<string, bool>? Refuses { get; set; }

    /// <summary>Starts a background thread; returns false if the system has none to give now.</summary>
    public static bool TryStart(string name, Action run) => TryStart(new Thread(() => run()) { Name = name, IsBackground = true });

    /// <summary>Starts a thread that was made; returns false if the system has none to give now. Such a thread never starts.</summary>
    public static bool TryStart(Thread made)
    {
        try
        {
            if (Refuses?.Invoke(made.Name ?? "") == true) throw new OutOfMemoryException("refused by a test");
            made.Start();
            return true;
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            return false;
        }
    }
}
