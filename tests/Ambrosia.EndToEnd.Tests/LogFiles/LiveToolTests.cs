namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// The reading commands beside a coordinator that fills, truncates and recycles segments as fast as it can: nothing is called
/// damaged, and it works on.
/// </summary>
public sealed class LiveToolTests(ITestOutputHelper output)
{
    [Fact]
    public void Tools_BesideAWritingCoordinator_SeeNoDamage()
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("watched", "none");
        replica.Options.AddRange(["--segment", "2M", "--checkpoint-every", "4M"]);
        cluster.Run(Cluster.Again(nameof(LiveToolTests)), () =>
        {
            using ImageApp app = CheckpointRun.Start(replica, 64 << 10);
            app.MessageBytes = 60_000;
            app.AnswersEach = true;
            for (int i = 0; i < 8; i++) app.Kick();
            app.RunUntil(() => CheckpointRun.Names(replica).Length == 2);
            int images = app.Images;
            Task<Tool[]> tools = Task.Run(() => Look(replica.LogDirectory));
            app.RunUntil(() => tools.IsCompleted);
            foreach (Tool tool in tools.Result) Assert.True(tool.Code == 0, tool.Output + tool.Error);
            output.WriteLine(
                $"{tools.Result.Length} looks, {app.Images - images} checkpoints and {app.Executed >> 20} MiB of log meanwhile");
            app.RunUntil(() => app.Images > images + 2); // what the tools held has been let go
            cluster.AssertNoneGaveUp();
        });
    }

    private static Tool[] Look(string log)
    {
        var looks = new List<Tool>();
        for (int i = 0; i < 2; i++)
        {
            looks.Add(Tool.Run("verify", log, "--json"));
            looks.Add(Tool.Run("log", log, "--json"));
            looks.Add(Tool.Run("log", log, "--records", "--tail", "3", "--json"));
            looks.Add(Tool.Run("log", log, "--sender", "watched", "--since", "1s", "--head", "5", "--json"));
        }
        looks.Add(Tool.Run("doctor", log, "--json"));
        return [.. looks];
    }
}
