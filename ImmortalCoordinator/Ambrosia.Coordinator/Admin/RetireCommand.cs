using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>retire</c> (protocol P9.8): the replica ends as on SIGTERM; a primary only if another can follow it, or by force.
/// </summary>
internal static class RetireCommand
{
    /// <param name="others">Other replicas that run on this log.</param>
    /// <param name="within">A last checkpoint takes so much time at most.</param>
    /// <param name="stop">Begins the end and returns at once.</param>
    public static IAdminReply Begin(JsonObject request, bool isPrimary, IReadOnlyList<string> others, TimeSpan within, Action stop)
    {
        bool isForced = request["force"] is JsonValue value && value.TryGetValue(out bool given) && given;
        if (isPrimary && others.Count == 0 && !isForced)
            return AdminAnswer.Refuse(
                "this is the primary and no other replica runs: the instance would stand still. Start another first; or retire it all the same with --force.");
        stop();
        return new AdminAnswer(
            new JsonObject
            {
                ["retiring"] = true, ["successors"] = new JsonArray([.. others.Select(static name => (JsonNode)name)]),
                ["withinMs"] = (long)within.TotalMilliseconds,
            });
    }
}
