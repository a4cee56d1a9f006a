using System.Diagnostics;
using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>The C program that does the same writes and reads with nothing around them (perf/floors/log_floor.c).</summary>
/// <param name="mode">direct, buffered, or cold: buffered with an empty page cache.</param>
internal sealed class LogFloor(string directory, string mode)
{
    private readonly string _program = RivalBuild.Find("log_floor");

    /// <exception cref="FailedRoundException">It failed.</exception>
    public TimeSpan Run(string what, long blockBytes, long count)
    {
        string[] arguments = [what, Path.Combine(directory, "floor.dat"), $"{blockBytes}", $"{count}", mode];
        using Process process = Process.Start(
            new ProcessStartInfo(_program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true })!;
        string said = process.StandardOutput.ReadToEnd(), why = process.StandardError.ReadToEnd();
        process.WaitForExit();
        if (process.ExitCode != 0) throw new FailedRoundException($"log_floor {what}: {why.Trim()}");
        return TimeSpan.FromSeconds(double.Parse(said, CultureInfo.InvariantCulture));
    }
}
