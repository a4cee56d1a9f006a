using System.Globalization;

namespace HelloWorld.Orchestration;

/// <summary>Writes the last lines of a run, and decides about its exit code.</summary>
internal static class RunSummary
{
    private const int Holds = 0, Fails = 1;

    public static int Write(TextWriter output, RunOptions options, HelloRun run, Cluster cluster)
    {
        if (run.Failure is { } failure || run.Client is not { } client || run.Server is not { } server)
            return Unfinished(output, options, run, cluster);
        Verdict verdict = Verdict.Of(client, server, run.Expected + (options.ExpectsLostCall ? 1 : 0));
        output.WriteLine();
        output.WriteLine($"calls made     {Count(client.Made)}");
        output.WriteLine($"calls applied  {Count(server.Applied)}   order hash {server.OrderHash:x16}");
        output.WriteLine($"answers        {Count(client.Answers)}   of them not the next number: {client.WrongAnswers}");
        output.WriteLine($"killed         {string.Join(", ", cluster.Processes.Select(process => $"{process.Name} {process.Kills}×"))}");
        if (run.Recoveries.Count > 0)
            output.WriteLine(
                $"recovered      {run.Recoveries.Count}×, median {run.Recoveries.Median!.Value.TotalMilliseconds:F0} ms, longest {run.Recoveries.Longest!.Value.TotalMilliseconds:F0} ms");
        output.WriteLine($"took           {run.Elapsed.TotalSeconds.ToString("F1", CultureInfo.InvariantCulture)} s");
        WritePlaces(output, options);
        foreach (string fault in verdict.Faults) output.WriteLine($"FAILED: {fault}");
        if (verdict.Holds) output.WriteLine($"ok: {client.Made} calls applied exactly once, in order, through {options.Kills} kills");
        return verdict.Holds ? Holds : Fails;
    }

    private static int Unfinished(TextWriter output, RunOptions options, HelloRun run, Cluster cluster)
    {
        output.WriteLine();
        foreach (InstanceProcesses side in new[] { cluster.Client, cluster.Server })
        {
            output.WriteLine($"{side.Name} said last:");
            foreach (string line in side.LastLines) output.WriteLine($"  {line}");
        }
        WritePlaces(output, options);
        output.WriteLine(
            $"FAILED: {run.Failure ?? "the apps said nothing"}; the same kills again with --seed {options.Seed} --calls {options.Calls} --kills {options.Kills}");
        return Fails;
    }

    private static void WritePlaces(TextWriter output, RunOptions options)
    {
        output.WriteLine($"logs           {options.LogDirectory}   (one directory for each immortal)");
        output.WriteLine($"look           dotnet run --project tools/ambrosia -- log {Path.Combine(options.LogDirectory, "server")}");
        output.WriteLine($"go on          dotnet run --project samples/HelloWorld -- --log {options.LogDirectory}");
    }

    private static string Count(long number) => number.ToString("N0", CultureInfo.InvariantCulture).PadLeft(12);
}
