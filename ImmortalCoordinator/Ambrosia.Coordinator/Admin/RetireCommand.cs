using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Primary;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>retire</c> (protocol P9.8): the replica ends as on SIGTERM; a primary only if another can follow it, or by force.
/// One connection's thread uses it.
/// </summary>
internal sealed class RetireCommand : IAdminReply
{
    private readonly SuccessorSearch _search;
    private readonly TimeSpan _within;
    private readonly Action _stop;

    private RetireCommand(SuccessorSearch search, TimeSpan within, Action stop) => (_search, _within, _stop) = (search, within, stop);

    /// <param name="search">Finds those that can follow; null: this replica is no primary.</param>
    /// <param name="others">Other replicas that run on this log.</param>
    /// <param name="within">A last checkpoint takes so much time at most.</param>
    /// <param name="stop">Begins the end and returns at once.</param>
    public static IAdminReply Begin(
        JsonObject request, SuccessorSearch? search, Func<IReadOnlyList<string>> others, TimeSpan within, Action stop)
    {
        bool isForced = request["force"] is JsonValue value && value.TryGetValue(out bool given) && given;
        if (search is not null && !isForced) return new RetireCommand(search, within, stop);
        IReadOnlyList<string> successors = others();
        stop();
        return Answer(successors, within);
    }

    public JsonObject? Next(out bool isLast)
    {
        IReadOnlyList<string> successors = _search.Look();
        isLast = successors.Count > 0 || _search.IsOver;
        if (!isLast) return null;
        if (successors.Count == 0)
        {
            return AdminAnswer.Error(
                $"this is the primary and no other replica can follow it: {_search.WhyNone}. The instance would stand still. "
                    + "Start another first, or wait until one has caught up; or retire it all the same with --force.");
        }
        _stop();
        return Answer(successors, _within).Next(out _);
    }

    private static AdminAnswer Answer(IReadOnlyList<string> successors, TimeSpan within) => new(
        new JsonObject
        {
            ["retiring"] = true, ["successors"] = new JsonArray([.. successors.Select(static name => (JsonNode)name)]),
            ["withinMs"] = (long)within.TotalMilliseconds,
        });
}
