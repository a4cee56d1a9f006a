using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>Asks the coordinator of one replica. What it refuses becomes a <see cref="ToolMisuse"/>.</summary>
internal static class AdminCall
{
    private const string StandsStill = "try again, or see why its process stands still";

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60), s_glance = TimeSpan.FromSeconds(2),
        s_answerAfter = TimeSpan.FromSeconds(5), s_pollEvery = TimeSpan.FromMilliseconds(20);

    /// <summary>Sends a request and returns the last answer.</summary>
    /// <exception cref="ToolMisuse">No coordinator answers, or it refuses.</exception>
    public static JsonObject Ask(string directory, string replica, JsonObject request) => AskAll(directory, replica, request)[^1];

    /// <summary>Sends a request and returns all answers, at least one.</summary>
    /// <exception cref="ToolMisuse">No coordinator answers, or it refuses.</exception>
    public static IReadOnlyList<JsonObject> AskAll(string directory, string replica, JsonObject request)
    {
        IReadOnlyList<JsonObject> answers = AskPatiently(directory, replica, request, s_patience);
        return answers[^1]["error"] is { } error ? throw Refusal(replica, (string?)error ?? "") : answers;
    }

    /// <summary>Asks for what has to happen within a time; null: it has, and <paramref name="answer"/> says what.</summary>
    /// <returns>What the replica says of the time that was too short.</returns>
    /// <exception cref="ToolMisuse">No coordinator answers, or it refuses.</exception>
    public static string? AskWithin(TimeSpan within, string directory, string replica, JsonObject request, out JsonObject answer)
    {
        request["withinMs"] = (long)within.TotalMilliseconds;
        answer = AskPatiently(directory, replica, request, within + s_answerAfter)[^1];
        if (answer["error"] is not { } error) return null;
        string why = (string?)error ?? "";
        return (bool?)answer["late"] == true ? why : throw Refusal(replica, why);
    }

    private static IReadOnlyList<JsonObject> AskPatiently(string directory, string replica, JsonObject request, TimeSpan patience)
    {
        List<JsonObject> answers;
        try
        {
            answers = [.. AdminClient.Ask(new PosixFileSystem(), directory, replica, request, patience)];
        }
        catch (AdminUnreachableException e)
        {
            throw NoAnswer(directory, replica, e.Message);
        }
        return answers is [] ? throw NoAnswer(directory, replica, "it gave none") : answers;
    }

    /// <summary>Returns the name of the replica that is primary.</summary>
    /// <exception cref="ToolMisuse">No replica that runs on this machine is primary.</exception>
    public static string PrimaryOf(string directory)
    {
        string? silent = null;
        bool doesAny = false;
        foreach (RunningReplica running in Running(directory))
        {
            if ((string?)running.Status?["role"] == "primary") return running.Replica;
            silent ??= running.NoAnswer;
            doesAny = true;
        }
        throw new ToolMisuse($"no primary of {directory} answers on this machine",
            silent ?? (doesAny ? "those that run here are not primary, or not yet" : "no replica of it runs here"),
            silent is not null ? StandsStill
                : "start it, wait until 'ambrosia status' shows it as primary, or run the command where it runs");
    }

    /// <summary>Asks the replicas that run on this machine for their status, one after the other.</summary>
    public static IEnumerable<RunningReplica> Running(string directory)
    {
        var files = new PosixFileSystem();
        foreach (string replica in AdminClient.Replicas(files, directory))
        {
            if (Look(files, directory, replica) is { } running) yield return running;
        }
    }

    /// <summary>Asks a replica for its status, and returns null if none runs: its socket has a name still, and nothing listens.</summary>
    public static RunningReplica? Look(IFileSystem files, string directory, string replica)
    {
        try
        {
            return new RunningReplica(
                replica, AdminClient.Ask(files, directory, replica, new JsonObject { ["command"] = "status" }, s_glance).Last(), null);
        }
        catch (AdminUnreachableException e)
        {
            return e.IsAbsent ? null : new RunningReplica(replica, null, $"replica '{replica}' runs here, but {e.Message.TrimEnd('.')}");
        }
    }

    /// <summary>
    /// Tells a replica to end, and waits for a bounded time until its process is gone. Returns false if it is still there, also if it is
    /// stopped by a signal.
    /// </summary>
    /// <param name="seen">Is shown each status that the replica gives meanwhile.</param>
    /// <exception cref="ToolMisuse">No coordinator answers, or it refuses.</exception>
    public static bool End(string directory, string replica, bool isForced, out JsonObject answer, Action<JsonObject>? seen = null)
    {
        var files = new PosixFileSystem();
        LivingProcess? process = AdminClient.ProcessOf(files, directory, replica) is { } id && id != Environment.ProcessId
            ? LivingProcess.Of(id) : null;
        answer = Ask(directory, replica, new JsonObject { ["command"] = "retire", ["force"] = isForced });
        double withinMs = (double?)answer["withinMs"] ?? 0;
        long begun = Environment.TickCount64;
        while (true)
        {
            RunningReplica? running = Look(files, directory, replica);
            if (running is null && process?.IsThere() != true) return true;
            if (running?.Status is { } status) seen?.Invoke(status);
            if (Environment.TickCount64 - begun > withinMs + s_patience.TotalMilliseconds) return false;
            Thread.Sleep(s_pollEvery);
        }
    }

    /// <summary>Splits a coordinator's error into what is wrong and how to mend it: the last sentence says how.</summary>
    public static ToolMisuse Refusal(string replica, string error)
    {
        string[] sentences = error.TrimEnd('.').Split(". ");
        string why = string.Join(". ", sentences.Length > 1 ? sentences[..^1] : sentences);
        return new ToolMisuse($"replica '{replica}' refuses", why, sentences.Length > 1 ? sentences[^1] : "");
    }

    private static ToolMisuse NoAnswer(string directory, string replica, string why)
    {
        RunningReplica[] found = [.. Running(directory)];
        string[] running = [.. found.Where(static one => one.Status is not null).Select(static one => one.Replica)];
        if (found.Any(one => one.Replica == replica && one.NoAnswer is not null))
            return new ToolMisuse($"replica '{replica}' gives no answer", why.TrimEnd('.'), StandsStill);
        string mend = running.Length == 0 ? "no replica of this log answers on this machine: start one, or run the command where they run"
            : $"these run here: {string.Join(", ", running)}";
        return new ToolMisuse($"replica '{replica}' gives no answer", why.TrimEnd('.'), mend);
    }
}

/// <summary>Tells what a replica says whose coordinator runs on this machine.</summary>
/// <param name="Status">Its answer to <c>status</c>, or null if it gave none.</param>
/// <param name="NoAnswer">Why there is no status: the answer was too late, too long or malformed. Null if there is one.</param>
internal sealed record RunningReplica(string Replica, JsonObject? Status, string? NoAnswer);
