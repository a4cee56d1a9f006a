// A rival's program runs one round and prints one line of words: what it counted, and what all of its processes used. It verifies count,
// order and bytes at its receiver as ours does.
using System.Diagnostics;
using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>Runs a rival's program.</summary>
internal static class RivalProcess
{
    /// <summary><c>round SECONDS COUNT BYTES DISORDER CPU COMMITS LOGBYTES</c></summary>
    public static StreamRound Stream(ClusterOptions options, string program, IReadOnlyList<string> arguments, int bytes, long messages)
    {
        string[] words = Run(options, program, arguments);
        if (words is not ["round", string seconds, string count, string total, string disorder, string cpu, string commits,
            string logBytes])
            throw new FailedRoundException($"'{string.Join(' ', words)}' of {program} is no round");
        RoundTotals.Check(count, total, disorder, messages, bytes);
        return new StreamRound(messages, bytes, Number(seconds), new Usage(Number(cpu), long.Parse(commits), long.Parse(logBytes), 0, 0));
    }

    /// <summary><c>latencies WRONG SECONDS CPU COMMITS LOGBYTES COUNT P50 P90 P99 P999 MAX</c>, microseconds.</summary>
    public static PingRound Ping(ClusterOptions options, string program, IReadOnlyList<string> arguments, int calls)
    {
        string[] words = Run(options, program, arguments);
        if (words is not ["latencies", string wrong, string seconds, string cpu, string commits, string logBytes, _, _, _, _, _, _])
            throw new FailedRoundException($"'{string.Join(' ', words)}' of {program} is no round of calls");
        if (wrong != "0") throw new FailedRoundException($"{wrong} answers of {program} were not those to their questions");
        Latencies found = Latencies.Parse(words.AsSpan(6));
        if (found.Count != calls) throw new FailedRoundException($"{found.Count} of {calls} calls of {program} were measured");
        return new PingRound(found, Number(seconds), new Usage(Number(cpu), long.Parse(commits), long.Parse(logBytes), 0, 0));
    }

    private static string[] Run(ClusterOptions options, string program, IReadOnlyList<string> arguments)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        using Process process = Process.Start(start)!;
        using CancellationTokenRegistration stopped = options.Stop.Register(() => End(process));
        using var late = new Timer(_ => End(process), null, options.Limit, Timeout.InfiniteTimeSpan);
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        options.Stop.ThrowIfCancellationRequested();
        if (process.ExitCode != 0)
            throw new FailedRoundException(
                $"{Path.GetFileName(program)} {string.Join(' ', arguments)} ended with {process.ExitCode}: {errors.GetAwaiter().GetResult().Trim()}");
        return output.Trim().Split(' ');
    }

    /// <summary>With the processes that it forked: they end when it does.</summary>
    private static void End(Process process)
    {
        if (!process.HasExited) process.Kill(entireProcessTree: true);
    }

    private static double Number(string word) => double.Parse(word, CultureInfo.InvariantCulture);
}
