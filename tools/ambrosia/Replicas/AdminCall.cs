using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Pumps;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>Asks the coordinator of one replica, and turns what it refuses into misuse.</summary>
internal static class AdminCall
{
    private static readonly TimeSpan patience = TimeSpan.FromSeconds(30);

    /// <summary>The last answer.</summary>
    /// <exception cref="ToolMisuse">No coordinator answers, or it refuses.</exception>
    public static JsonObject Ask(string directory, string replica, JsonObject request)
    {
        JsonObject? last = null;
        try
        {
            foreach (JsonObject answer in AdminClient.Ask(new PosixFileSystem(), directory, replica, request, patience)) last = answer;
        }
        catch (AdminUnreachableException e)
        {
            throw new ToolMisuse(e.Message.TrimEnd('.'), "", "'ambrosia status' shows which replicas run");
        }
        if (last?["error"] is { } error) throw new ToolMisuse($"replica '{replica}' refuses", ((string?)error ?? "").TrimEnd('.'), "");
        return last ?? throw new ToolMisuse($"replica '{replica}' gave no answer", "", "try again");
    }
}
