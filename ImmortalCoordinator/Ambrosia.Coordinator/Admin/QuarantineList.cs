using System.Text.Json.Nodes;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Admin;

/// <summary>Gives one answer for each message that was set aside, and one at the end that counts them. One thread uses it.</summary>
internal sealed class QuarantineList(IReadOnlyList<SetAsideFrame> messages) : IAdminReply
{
    private int _next;

    public JsonObject Next(out bool isLast)
    {
        isLast = _next == messages.Count;
        if (isLast)
            return new JsonObject
            {
                ["count"] = messages.Count, ["argumentBytes"] = messages.Aggregate(0UL, static (sum, m) => sum + m.ArgumentBytes)
            };
        SetAsideFrame message = messages[_next++];
        return new JsonObject
        {
            ["message"] = message.Message.ToString(), ["time"] = message.TimeUs, ["caller"] = message.Caller.ToString(),
            ["kind"] = message.Kind.ToString().ToLowerInvariant(),
            ["method"] = message.Method, ["tries"] = message.Tries, ["argumentBytes"] = message.ArgumentBytes, ["why"] = message.Why,
        };
    }
}
