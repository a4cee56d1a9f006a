using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>Asks the coordinator of one replica. What it refuses becomes a <see cref="ToolMisuse"/>.</summary>
internal static class AdminCall
{
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
        bool doesAny = false;
        foreach ((string replica, JsonObject status) in Running(directory))
        {
            if ((string?)status["role"] == "primary") return replica;
            doesAny = true;
        }
        throw new ToolMisuse($"no primary of {directory} answers on this machine",
            doesAny ? "those that run here are not primary, or not yet" : "no replica of it runs here",
            "start it, wait until 'ambrosia status' shows it as primary, or run the command where it runs");
    }

    /// <summary>Asks the replicas that answer on this machine for their status, one after the other.</summary>
    public static IEnumerable<(string Replica, JsonObject Status)> Running(string directory)
    {
        var files = new PosixFileSystem();
        foreach (string replica in AdminClient.Replicas(files, directory))
        {
            if (Status(files, directory, replica) is { } status) yield return (replica, status);
        }
    }

    /// <summary>Returns the status of a replica, or null where nobody answers now.</summary>
    public static JsonObject? Status(IFileSystem files, string directory, string replica)
    {
        try
        {
            return AdminClient.Ask(files, directory, replica, new JsonObject { ["command"] = "status" }, s_glance).LastOrDefault();
        }
        catch (AdminUnreachableException)
        {
            return null; // its socket is still there, and nobody listens
        }
    }

    /// <summary>
    /// Waits, for a bounded time, until a process that was told to end does not answer any more. Returns false if it still does.
    /// </summary>
    /// <param name="within">The replica may take so much time before it begins to end.</param>
    /// <param name="seen">Is shown each status that it gives meanwhile.</param>
    public static bool AwaitEnd(string directory, string replica, TimeSpan within, Action<JsonObject>? seen = null)
    {
        var files = new PosixFileSystem();
        long begun = Environment.TickCount64;
        while (Status(files, directory, replica) is { } status)
        {
            seen?.Invoke(status);
            if (Environment.TickCount64 - begun > (within + s_patience).TotalMilliseconds) return false;
            Thread.Sleep(s_pollEvery);
        }
        return true;
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
        string[] running = [.. Running(directory).Select(static found => found.Replica)];
        string mend = running.Length == 0 ? "no replica of this log answers on this machine: start one, or run the command where they run"
            : $"these run here: {string.Join(", ", running)}";
        return new ToolMisuse($"replica '{replica}' gives no answer", why.TrimEnd('.'), mend);
    }
}
