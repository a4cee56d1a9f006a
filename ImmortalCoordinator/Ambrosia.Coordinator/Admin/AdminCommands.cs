using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Keeps the commands of the admin socket (protocol P9): whoever has something to tell or to do enters it here, and a command that is
/// entered again replaces the one before. Any thread may call it.
/// </summary>
internal sealed class AdminCommands
{
    /// <summary>A request has at most so many bytes, its end of line not counted (P9.3).</summary>
    public const int RequestBytesMax = 64 << 10;

    private const int DepthMax = 16;

    private readonly RankedLock _gate = new(LockRank.AdminCommands);
    private readonly Dictionary<string, AdminCommand> _commands = new(StringComparer.Ordinal);

    public void Set(string name, AdminCommand command)
    {
        using (_gate.Enter()) _commands[name] = command;
    }

    /// <summary>Begins what a request asks for; a request that cannot be understood is answered with an error.</summary>
    public IAdminReply Begin(ReadOnlySpan<byte> request)
    {
        JsonNode? parsed;
        try
        {
            RequireText(request);
            parsed = StrictJson.Parse(request, DepthMax);
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            return AdminAnswer.Refuse(
                $"the request is not one JSON object in a line: {e.Message} Send one like {{\"command\":\"status\"}}.");
        }
        if (parsed is not JsonObject asked || StrictJson.TextOf(asked["command"]) is not { } name)
            return AdminAnswer.Refuse($"the request has no string \"command\". Give one of: {Names()}.");
        AdminCommand? command;
        using (_gate.Enter()) _commands.TryGetValue(name, out command);
        return command is null ? AdminAnswer.Refuse($"there is no command '{name}' here. Give one of: {Names()}.") : command(asked);
    }

    /// <summary>
    /// Reads each text of a request once. JSON's escapes can write what is no text (half of a surrogate pair): a parsed node takes it, and
    /// gives it out as an exception when the text is asked for.
    /// </summary>
    /// <exception cref="InvalidOperationException">One of them is no text.</exception>
    private static void RequireText(ReadOnlySpan<byte> request)
    {
        var reader = new Utf8JsonReader(request, new JsonReaderOptions { MaxDepth = DepthMax });
        while (reader.Read())
            if (reader.TokenType is JsonTokenType.String or JsonTokenType.PropertyName) _ = reader.GetString();
    }

    private string Names()
    {
        using (_gate.Enter()) return string.Join(", ", _commands.Keys.Order(StringComparer.Ordinal));
    }
}

/// <summary>This reply has one answer, which is known at once.</summary>
internal sealed class AdminAnswer(JsonObject answer) : IAdminReply
{
    public JsonObject Next(out bool isLast)
    {
        isLast = true;
        return answer;
    }

    /// <param name="why">What, why, and how to mend it.</param>
    public static JsonObject Error(string why) => new() { ["error"] = why };

    public static AdminAnswer Refuse(string why) => new(Error(why));
}

/// <summary>Answers one request of an operator. It never waits: whoever serves the connection asks again. One thread uses it.</summary>
internal interface IAdminReply
{
    /// <summary>Returns the next answer; null: there is none yet.</summary>
    JsonObject? Next(out bool isLast);
}

/// <summary>Begins one command. Any thread may call it.</summary>
internal delegate IAdminReply AdminCommand(JsonObject request);
