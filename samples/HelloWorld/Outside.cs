namespace HelloWorld;

/// <summary>The world outside an app is its standard input here. A line is a command of words.</summary>
internal static class Outside
{
    /// <summary>Starts a thread that hands every line to <paramref name="take"/>, until the input or the session ends.</summary>
    public static void Listen(Action<string[]> take) => new Thread(() =>
    {
        try
        {
            while (Console.ReadLine() is { } line) take(line.Split(' '));
        }
        catch (InvalidOperationException)
        {
            // The coordinator is gone, so no impulse is taken any more; the process ends with it.
        }
    })
    { IsBackground = true, Name = "outside" }.Start();
}
