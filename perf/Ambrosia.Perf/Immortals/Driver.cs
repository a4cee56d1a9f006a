namespace Ambrosia.Perf;

/// <summary>The driver as an app sees it: its standard input, a line a command of words.</summary>
internal static class Driver
{
    /// <summary>Starts a thread that hands every command to <paramref name="take"/>.</summary>
    public static void Listen(Action<string[]> take) => new Thread(() =>
    {
        while (Console.ReadLine() is { } line) take(line.Split(' '));
    })
    { IsBackground = true, Name = "driver" }.Start();
}
