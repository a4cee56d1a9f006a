// A coordinator's admin socket (docs/protocol.md, P9): one request a connection, answers as lines of JSON.
using System.Net.Sockets;
using System.Text.Json.Nodes;

namespace Ambrosia.Perf;

/// <summary>Asks one coordinator.</summary>
internal static class AdminSocket
{
    /// <summary>The last answer to a command; waiting ones are passed over.</summary>
    /// <exception cref="FailedRoundException">It does not answer, or says that it cannot.</exception>
    public static JsonObject Ask(string logDirectory, string replica, string command, TimeSpan limit)
    {
        try
        {
            return AskOnce(logDirectory, replica, command, limit);
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            throw new FailedRoundException($"{logDirectory}: '{command}' cannot be asked: {e.Message}");
        }
    }

    /// <summary>Null: nobody answers, because a process is starting or was killed.</summary>
    public static JsonObject? TryAsk(string logDirectory, string replica, string command, TimeSpan limit)
    {
        try
        {
            return AskOnce(logDirectory, replica, command, limit);
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            return null;
        }
    }

    private static JsonObject AskOnce(string logDirectory, string replica, string command, TimeSpan limit)
    {
        string path = Member(Parse(File.ReadAllText(Path.Combine(logDirectory, $"admin.{replica}"))), "socket").GetValue<string>();
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified)
        {
            ReceiveTimeout = (int)limit.TotalMilliseconds
        };
        socket.Connect(new UnixDomainSocketEndPoint(path));
        using var stream = new NetworkStream(socket);
        using var writer = new StreamWriter(stream) { AutoFlush = true, NewLine = "\n" };
        using var reader = new StreamReader(stream);
        writer.WriteLine(new JsonObject { ["command"] = command }.ToJsonString());
        JsonObject? last = null;
        while (reader.ReadLine() is { } line) last = Parse(line);
        if (last is null) throw new FailedRoundException($"{logDirectory}: no answer to '{command}'");
        return last["error"] is { } error ? throw new FailedRoundException($"{logDirectory}: {error}") : last;
    }

    /// <exception cref="FailedRoundException">There is none of that name.</exception>
    public static JsonNode Member(JsonNode answer, string name) =>
        answer[name] ?? throw new FailedRoundException($"an answer without '{name}': {answer.ToJsonString()}");

    private static JsonObject Parse(string text) =>
        JsonNode.Parse(text) as JsonObject ?? throw new FailedRoundException($"'{text}' is no answer");
}
