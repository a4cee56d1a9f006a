using System.Text.Json.Nodes;
using Ambrosia.AppChannel;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Quarantine;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>quarantine</c> (protocol P9.9): it lists the messages that were set aside, or logs that one is to be tried again
/// or dropped and answers when the app has done it. One connection's thread uses it; who goes away meanwhile has decided all the same.
/// </summary>
internal sealed class QuarantineCommand : IAdminReply
{
    private readonly QuarantineJournal _journal;
    private readonly MessagePlace _place;
    private readonly QuarantineAction _action;
    private readonly Func<bool> _hasApp;
    private readonly Action _commit;
    private readonly uint _triesBefore;
    private bool _isLogged;

    private QuarantineCommand(QuarantineJournal journal, SetAsideFrame message, QuarantineAction action, Func<bool> hasApp, Action commit)
    {
        _journal = journal;
        _place = message.Message;
        _triesBefore = message.Tries;
        _action = action;
        _hasApp = hasApp;
        _commit = commit;
    }

    /// <param name="bodies">The tasks whose bodies are set aside stand in the same list.</param>
    /// <param name="isPrimary">Only the primary logs; any replica knows what was set aside.</param>
    /// <param name="hasApp">An app executes the log's end.</param>
    public static IAdminReply Begin(
        JsonObject request, QuarantineJournal journal, TaskBodies bodies, bool isPrimary, Func<bool> hasApp, Action commit)
    {
        string? action = StrictJson.TextOf(request["action"]);
        if (action == "list") return new QuarantineList(journal.All, bodies.Aside);
        if (action is not ("retry" or "drop"))
            return AdminAnswer.Refuse("the request has no \"action\" that quarantine knows. Give list, retry or drop.");
        string named = StrictJson.TextOf(request["message"]) ?? "";
        MessagePlace place = default;
        bool isTask = TaskDecision.TryParse(named, out ulong task);
        if (!isTask && !MessagePlace.TryParse(named, out place))
            return AdminAnswer.Refuse("the request names no message. Give its place as 'list' shows it, like 4160:2, or a task, like task:7.");
        if (!isPrimary || !hasApp())
            return AdminAnswer.Refuse(
                "only the primary decides about messages that were set aside, while its app runs. Ask that one: 'ambrosia status' shows it.");
        if (isTask) return new TaskDecision(bodies, task, action == "retry", hasApp, commit);
        if (!journal.TryGet(place, out SetAsideFrame? message))
            return AdminAnswer.Refuse($"there is no message {place} in quarantine. 'ambrosia quarantine list' shows those that are.");
        return new QuarantineCommand(journal, message, action == "retry" ? QuarantineAction.Retry : QuarantineAction.Drop, hasApp, commit);
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = true;
        if (!_hasApp())
            return AdminAnswer.Error(
                "the app ended meanwhile. What was decided stands in the log or not at all: 'ambrosia quarantine list' shows it when the app is back.");
        if (!_isLogged)
        {
            if (!_journal.TryDecide(_place, _action)) { isLast = false; return null; }
            _isLogged = true;
            _commit();
        }
        if (!_journal.TryGet(_place, out SetAsideFrame? message))
            return new JsonObject { [_action == QuarantineAction.Retry ? "retried" : "dropped"] = _place.ToString() };
        if (message.Tries > _triesBefore)
            return new JsonObject { ["setAside"] = _place.ToString(), ["tries"] = message.Tries, ["why"] = message.Why };
        isLast = false;
        return null;
    }
}

/// <summary>
/// Gives one answer for each message and for each task that was set aside, and one at the end that counts them. One thread uses it.
/// </summary>
internal sealed class QuarantineList(IReadOnlyList<SetAsideFrame> messages, IReadOnlyList<TaskBody> tasks) : IAdminReply
{
    private int _next;

    public JsonObject Next(out bool isLast)
    {
        isLast = _next == messages.Count + tasks.Count;
        if (isLast)
            return new JsonObject
            {
                ["count"] = messages.Count + tasks.Count,
                ["argumentBytes"] = messages.Aggregate(0UL, static (sum, m) => sum + m.ArgumentBytes)
            };
        if (_next >= messages.Count)
        {
            TaskBody body = tasks[_next++ - messages.Count];
            return new JsonObject
            {
                ["message"] = TaskDecision.NameOf(body.Task), ["kind"] = "task", ["tries"] = body.Deaths, ["why"] = body.WhyAside,
            };
        }
        SetAsideFrame message = messages[_next++];
        return new JsonObject
        {
            ["message"] = message.Message.ToString(), ["time"] = message.TimeUs, ["caller"] = message.Caller.ToString(),
            ["kind"] = message.Kind.ToString().ToLowerInvariant(),
            ["method"] = message.Method, ["tries"] = message.Tries, ["argumentBytes"] = message.ArgumentBytes, ["why"] = message.Why,
        };
    }
}
