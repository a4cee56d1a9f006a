using System.Diagnostics;

namespace Ambrosia.Samples.Tests;

/// <summary>Looks for processes that a run left behind.</summary>
internal static class Processes
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(20);

    /// <summary>Waits until no process has <paramref name="directory"/> in its command line (coordinators) or environment (apps).</summary>
    public static void AwaitNoneOf(string directory)
    {
        long begun = Stopwatch.GetTimestamp();
        while (IdsOf(directory) is { Count: > 0 } left)
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < s_limit, $"processes are left behind: {string.Join(", ", left)}");
            Thread.Sleep(10);
        }
    }

    private static List<string> IdsOf(string directory) =>
        [.. Directory.EnumerateDirectories("/proc").Where(path => int.TryParse(Path.GetFileName(path), out _) && Says(path, directory))];

    /// <summary>The compiler of ./test.sh ends with it. Whoever builds first starts it, with an environment of its own.</summary>
    private static bool IsCompiler(string line) => Environment.GetEnvironmentVariable("SharedCompilationId") is { Length: > 0 } name
        && line.Contains($"-pipename:{name}", StringComparison.Ordinal);

    private static bool Says(string process, string text)
    {
        try
        {
            string line = File.ReadAllText(Path.Combine(process, "cmdline"));
            if (IsCompiler(line)) return false;
            return line.Contains(text, StringComparison.Ordinal)
                || File.ReadAllText(Path.Combine(process, "environ")).Contains(text, StringComparison.Ordinal);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false; // it has just ended, or is another user's
        }
    }
}
