using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A coordinator without a supervised app, the app spoken by hand, and what an operator asks it.</summary>
internal static class CheckpointRun
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(8);

    /// <summary>Starts the coordinator and an app that is primary when it returns.</summary>
    /// <param name="prepare">Sets the app up before it gets its first record.</param>
    /// <exception cref="IOException">It has ended before.</exception>
    public static ImageApp Start(Replica replica, long imageBytes, string? crashAt = null, Action<ImageApp>? prepare = null)
    {
        replica.Start(crashAt, withApp: false);
        Cluster.Await("open app channel", () => !replica.IsRunning || HasOpened(replica));
        if (!replica.IsRunning) throw new IOException("the coordinator has ended before an app could come");
        var app = new ImageApp(replica, imageBytes);
        prepare?.Invoke(app);
        app.RunUntil(() => app.IsPrimary, s_patience);
        Cluster.Await("ready line",
            () => replica.Lines.FindLast(static line => line.StartsWith("ready ", StringComparison.Ordinal), replica.StartedAt) is not null
                || !replica.IsRunning);
        return app;
    }

    private static bool HasOpened(Replica replica) =>
        replica.Lines.FindLast(static line => line.Contains("app channel", StringComparison.Ordinal), replica.StartedAt) is not null;

    /// <summary>Has a checkpoint taken while the app works; its file name.</summary>
    public static string Checkpoint(Replica replica, ImageApp app)
    {
        Task<JsonObject> asked = Task.Run(() => Ask(replica, "checkpoint"));
        app.RunUntil(() => asked.IsCompleted, s_patience);
        return (string?)asked.Result["published"] ?? throw new InvalidOperationException(asked.Result.ToJsonString());
    }

    public static JsonObject Ask(Replica replica, string command) =>
        AdminClient.Ask(new PosixFileSystem(), replica.LogDirectory, "r0", new JsonObject { ["command"] = command }, s_patience).Last();

    /// <summary>Commit groups since the start.</summary>
    public static long Groups(Replica replica) => Ask(replica, "status")["log"]!["groups"]!.GetValue<long>();

    /// <summary>Checkpoints of its directory, newest first.</summary>
    public static string[] Names(Replica replica) =>
        [.. CheckpointDirectory.List(new PosixFileSystem(), replica.LogDirectory).Select(static name => name.ToString())];

    /// <summary>Numbers of its segments.</summary>
    public static ulong[] Segments(Replica replica) =>
        [.. Directory.EnumerateFiles(replica.LogDirectory, "log.*")
            .Select(static path => ulong.Parse(Path.GetFileName(path).Split('.')[1])).Order()];
}
