using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>One answer for each message that was set aside, and one at the end that counts them. One thread.</summary>
internal sealed class QuarantineList(IReadOnlyList<SetAside> messages) : IAdminReply
{
    private int next;

    public JsonObject Next(out bool isLast)
    {
        isLast = next == messages.Count;
        if (isLast)
            return new JsonObject
            {
                ["count"] = messages.Count, ["argumentBytes"] = messages.Aggregate(0UL, static (sum, m) => sum + m.ArgumentBytes)
            };
        SetAside message = messages[next++];
        return new JsonObject
        {
            ["message"] = message.Message.ToString(), ["time"] = message.TimeUs, ["caller"] = message.Caller.ToString(),
            ["kind"] = message.Kind.ToString().ToLowerInvariant(),
            ["method"] = message.Method, ["tries"] = message.Tries, ["argumentBytes"] = message.ArgumentBytes, ["why"] = message.Why,
        };
    }
}
