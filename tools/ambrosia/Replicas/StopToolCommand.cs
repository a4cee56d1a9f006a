using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>
/// The command <c>ambrosia stop DIR</c> ends all replicas of a log that run on this machine: those that wait or follow first, and then the
/// primary, which has no one to hand over to by then and takes a last checkpoint.
/// </summary>
internal sealed class StopToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    public StopToolCommand(ToolStreams streams)
        : base(streams, "stop",
            "Ends all replicas of a log cleanly, the primary last, with a checkpoint so that the next start executes nothing again.")
    {
        Add(_directory);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string[] running = [.. AdminCall.Running(log.Path)
            .OrderBy(static found => (string?)found.Status?["role"] == "primary") // one that waits would claim what the primary leaves
            .Select(static found => found.Replica)];
        string? refusal = null;
        string[] ended = [.. running.TakeWhile(
            name => AdminCall.End(log.Path, name, true, out _, status => refusal = ReplicaStatus.RefusalOf(status) ?? refusal))];
        CheckpointFileName? newest = CheckpointDirectory.List(new PosixFileSystem(), log.Path).FirstOrDefault();
        screen.Show(new StopReport(ended, [.. running.Skip(ended.Length)], newest?.ToString(), refusal));
        return ended.Length == running.Length && refusal is null ? ToolExit.Fine : ToolExit.Damage;
    }
}

/// <summary>Says which replicas have ended, and with which checkpoint the next start begins.</summary>
/// <param name="Running">The first was told to end and has not, and the others were not told.</param>
/// <param name="Refusal">What of the app's state no checkpoint could hold, so that there is none of the end; null: nothing.</param>
internal sealed record StopReport(
    IReadOnlyList<string> Ended, IReadOnlyList<string> Running, string? Checkpoint, string? Refusal) : IReport
{
    public void Draw(Screen screen)
    {
        if (Ended.Count + Running.Count == 0) screen.Line("no replica of this log runs on this machine");
        foreach (string replica in Ended) screen.Line($"{replica}: has ended", Tone.Good);
        for (int i = 0; i < Running.Count; i++)
            screen.Line($"{Running[i]}: {(i == 0 ? "was told to end, and has not" : "was not told to end")}", Tone.Warning);
        if (Refusal is not null)
            screen.Line(
                $"error: no checkpoint of the end, since the app's state cannot be in one: {Refusal}. The next start executes again what lies behind the newest one",
                Tone.Bad);
        screen.Line($"newest checkpoint: {Checkpoint ?? "none"}");
    }
}
