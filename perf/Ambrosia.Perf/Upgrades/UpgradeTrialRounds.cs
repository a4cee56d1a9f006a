using System.Text.Json.Nodes;

namespace Ambrosia.Perf;

/// <summary>How long <c>ambrosia upgrade check --test-upgrade</c> takes over a log whose only checkpoint is at its beginning.</summary>
internal sealed class UpgradeTrialRounds(ClusterOptions cluster)
{
    private const string NoCheckpoint = "1024G";
    private const int UnderWay = 1024;

    /// <exception cref="FailedRoundException">It found a difference, or failed.</exception>
    public UpgradeTrialResult Run(int mebibytes, long logBytes, int messageBytes, int trials, double part)
    {
        ClusterOptions options = cluster with { CheckpointEvery = NoCheckpoint };
        using var service = new BooksService(options, mebibytes);
        long messages = 0;
        using (var caller = new PipelinedCaller(options, BooksService.Instance, messageBytes, UnderWay))
        {
            long chunk = Math.Max(1, logBytes / messageBytes / 16);
            for (; service.Primary.Written().Bytes < logBytes; messages += chunk) caller.Run(chunk);
        }
        long written = service.Primary.Written().Bytes;
        cluster.Report($"{written >> 20} MiB of log hold {messages} messages");
        var tools = new Tools(cluster.Limit);
        var seconds = new List<double>();
        JsonNode? trial = null;
        for (int i = 0; i < trials; i++)
        {
            string found = tools.Run(
                Tools.Ambrosia,
                ["upgrade", "check", service.Primary.LogDirectory, "--json", "--build", BooksBuild.Second.Place, "--test-upgrade",
                    BooksBuild.Second.Command, "--old-app", BooksBuild.First.Command], out double took, 0);
            seconds.Add(took);
            // The first line is what the check says, and the second one what the trial has come to.
            trial = JsonNode.Parse(found.Split('\n', StringSplitOptions.RemoveEmptyEntries)[1])!;
            cluster.Report($"--test-upgrade {i + 1} of {trials}: {took:F1} s");
            cluster.Advance(part / trials);
        }
        JsonNode replay = AdminSocket.Member(trial!.AsObject(), "replay");
        return new UpgradeTrialResult(
            written, messages, messageBytes, seconds, trial["conversionMs"]!.GetValue<double>(), replay["seconds"]!.GetValue<double>(),
            replay["outcome"]!.GetValue<string>());
    }
}
