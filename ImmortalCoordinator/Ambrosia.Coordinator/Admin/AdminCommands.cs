using System.Text.Json;
using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator;

/// <summary>
/// The table of the admin socket's commands (protocol P9): whoever has something to tell or to do enters it here. Any thread; a command
/// that is entered again replaces the one before.
/// </summary>
internal sealed class AdminCommands
{
    /// <summary>P9.3: a request's bytes, its end of line not counted.</summary>
    public const int RequestBytesMax = 64 << 10;

    private static readonly JsonDocumentOptions strict = new() { MaxDepth = 16, AllowDuplicateProperties = false };

    private readonly Lock gate = new();
    private readonly Dictionary<string, AdminCommand> commands = new(StringComparer.Ordinal);

    public void Set(string name, AdminCommand command)
    {
        lock (gate) commands[name] = command;
    }

    /// <summary>Begins what a request asks for; a request that cannot be understood is answered with an error.</summary>
    public IAdminReply Begin(ReadOnlySpan<byte> request)
    {
        JsonNode? parsed;
        try
        {
            parsed = JsonNode.Parse(request, documentOptions: strict);
        }
        catch (JsonException e)
        {
            return AdminAnswer.Refuse(
                $"the request is not one JSON object in a line: {e.Message} Send one like {{\"command\":\"status\"}}.");
        }
        if (parsed is not JsonObject asked || asked["command"] is not JsonValue value || !value.TryGetValue(out string? name))
            return AdminAnswer.Refuse($"the request has no string \"command\". Give one of: {Names()}.");
        AdminCommand? command;
        lock (gate) commands.TryGetValue(name, out command);
        return command is null ? AdminAnswer.Refuse($"there is no command '{name}' here. Give one of: {Names()}.") : command(asked);
    }

    private string Names()
    {
        lock (gate) return string.Join(", ", commands.Keys.Order(StringComparer.Ordinal));
    }
}
