using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The command <c>quarantine</c> (protocol P9.9): lists the messages that were set aside, or logs that one is to be tried again or dropped
/// and answers when the app has done it. Of one connection's thread; who goes away meanwhile has decided all the same.
/// </summary>
internal sealed class QuarantineCommand : IAdminReply
{
    private readonly QuarantineBook book;
    private readonly MessagePlace place;
    private readonly QuarantineAction action;
    private readonly Func<bool> hasApp;
    private readonly Action commit;
    private readonly uint triesBefore;
    private bool isLogged;

    private QuarantineCommand(QuarantineBook book, SetAside message, QuarantineAction action, Func<bool> hasApp, Action commit)
    {
        this.book = book;
        place = message.Message;
        triesBefore = message.Tries;
        this.action = action;
        this.hasApp = hasApp;
        this.commit = commit;
    }

    /// <param name="isPrimary">Only the primary logs; any replica knows what was set aside.</param>
    /// <param name="hasApp">An app executes the log's end.</param>
    public static IAdminReply Begin(JsonObject request, QuarantineBook book, bool isPrimary, Func<bool> hasApp, Action commit)
    {
        string? action = Text(request, "action");
        if (action == "list") return new QuarantineList(book.All);
        if (action is not ("retry" or "drop"))
            return AdminAnswer.Refuse("the request has no \"action\" that quarantine knows. Give list, retry or drop.");
        if (!MessagePlace.TryParse(Text(request, "message") ?? "", out MessagePlace place))
            return AdminAnswer.Refuse("the request names no message. Give its place as 'list' shows it, like 4160:2.");
        if (!isPrimary || !hasApp())
            return AdminAnswer.Refuse(
                "only the primary decides about messages that were set aside, while its app runs. Ask that one: 'ambrosia status' shows it.");
        if (!book.TryGet(place, out SetAside? message))
            return AdminAnswer.Refuse($"there is no message {place} in quarantine. 'ambrosia quarantine list' shows those that are.");
        return new QuarantineCommand(book, message, action == "retry" ? QuarantineAction.Retry : QuarantineAction.Drop, hasApp, commit);
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = true;
        if (!hasApp())
            return AdminAnswer.Error(
                "the app ended meanwhile. What was decided stands in the log or not at all: 'ambrosia quarantine list' shows it when the app is back.");
        if (!isLogged)
        {
            if (!book.TryDecide(place, action)) { isLast = false; return null; }
            isLogged = true;
            commit();
        }
        if (!book.TryGet(place, out SetAside? message))
            return new JsonObject { [action == QuarantineAction.Retry ? "retried" : "dropped"] = place.ToString() };
        if (message.Tries > triesBefore)
            return new JsonObject { ["setAside"] = place.ToString(), ["tries"] = message.Tries, ["why"] = message.Why };
        isLast = false;
        return null;
    }

    private static string? Text(JsonObject request, string name) =>
        request[name] is JsonValue value && value.TryGetValue(out string? text) ? text : null;
}
