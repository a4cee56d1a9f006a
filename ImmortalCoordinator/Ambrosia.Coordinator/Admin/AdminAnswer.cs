using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator.Admin;

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
