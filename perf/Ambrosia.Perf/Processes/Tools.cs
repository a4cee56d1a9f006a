using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>Runs commands of operators, as a user does.</summary>
/// <param name="limit">One may take so long.</param>
internal sealed class Tools(TimeSpan limit)
{
    /// <summary>The program 'ambrosia', which lies where it is built.</summary>
    /// <exception cref="FailedRoundException">This program is in no source tree.</exception>
    public static string Ambrosia => SourceVersion.Root() is { } root
        ? Path.Combine(root, "tools", "ambrosia", "bin", ResultFile.ThisConfiguration, "net10.0", "ambrosia")
        : throw new FailedRoundException("the tool 'ambrosia' is found in the source tree, and this program is in none");

    /// <summary>Runs a command to its end; returns its output.</summary>
    /// <exception cref="FailedRoundException">It ended with another code than is expected, or not in time.</exception>
    public string Run(string program, IReadOnlyList<string> words, out double seconds, params ReadOnlySpan<int> expected)
    {
        long begun = Stopwatch.GetTimestamp();
        using Process process = Process.Start(StartOf(program, words))!;
        Task<string> error = process.StandardError.ReadToEndAsync();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(limit))
        {
            process.Kill(entireProcessTree: true);
            throw new FailedRoundException($"{Path.GetFileName(program)} {words[0]} took more than {limit.TotalSeconds:F0} s; give more --limit");
        }
        seconds = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        if (!expected.Contains(process.ExitCode))
            throw new FailedRoundException($"{Path.GetFileName(program)} {words[0]} ended with {process.ExitCode}: {error.Result}{output.Result}");
        return output.Result;
    }

    /// <summary>A command that is not started yet, whose outputs are read.</summary>
    public static ProcessStartInfo StartOf(string program, IReadOnlyList<string> words)
    {
        var start = new ProcessStartInfo(program, words) { RedirectStandardOutput = true, RedirectStandardError = true };
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return start;
    }
}
