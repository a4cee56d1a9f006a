using System.Diagnostics;

namespace Ambrosia.Feed.Tests;

/// <summary>
/// Has all builds of the suite use one compiler, since each that starts its own spends most of its time on compiling the compiler. It is
/// that of ./test.sh, if the suite is started by it. Otherwise its name is the suite's own, so that it ends with the suite, and no other
/// one does.
/// </summary>
internal sealed class CompilerServer : IDisposable
{
    private readonly string _name = $"ambrosia-feed-{Environment.ProcessId}-{Stopwatch.GetTimestamp():x}";

    private static bool IsGiven => Environment.GetEnvironmentVariable("SharedCompilationId") is { Length: > 0 };

    /// <summary>
    /// What the environment of a build says. Where a process cannot be found by its command line each build compiles by itself.
    /// </summary>
    public IReadOnlyDictionary<string, string> Settings => IsGiven ? new Dictionary<string, string>() : OperatingSystem.IsLinux()
        ? new Dictionary<string, string> { ["UseSharedCompilation"] = "true", ["SharedCompilationId"] = _name }
        : new Dictionary<string, string> { ["UseSharedCompilation"] = "false" };

    public void Dispose()
    {
        if (IsGiven || !OperatingSystem.IsLinux()) return;
        foreach (Process process in Process.GetProcesses())
        {
            using Process each = process;
            if (!Arguments(each.Id).Contains($"-pipename:{_name}")) continue;
            each.Kill();
            each.WaitForExit();
        }
    }

    /// <summary>None of a process that has ended meanwhile.</summary>
    private static string[] Arguments(int process)
    {
        try
        {
            return File.ReadAllText($"/proc/{process}/cmdline").Split('\0');
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }
}
