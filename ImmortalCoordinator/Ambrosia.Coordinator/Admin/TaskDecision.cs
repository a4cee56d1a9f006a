using System.Globalization;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.AppSessions;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Does what an operator decided about a task whose body is set aside (protocol P9.10): lets it run again, or logs that the task has
/// failed, and answers when the app has taken that. One connection's thread uses it.
/// </summary>
internal sealed class TaskDecision(TaskBodies bodies, ulong task, bool isRetry, Func<bool> hasApp, Action commit) : IAdminReply
{
    private const string Prefix = "task:";

    private bool _isDone;

    /// <summary>Writes the name by which an operator decides about a task.</summary>
    public static string NameOf(ulong task) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{task}");

    public static bool TryParse(string text, out ulong task)
    {
        task = 0;
        return text.StartsWith(Prefix, StringComparison.Ordinal)
            && ulong.TryParse(text.AsSpan(Prefix.Length), NumberStyles.None, CultureInfo.InvariantCulture, out task);
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = true;
        if (!hasApp())
            return AdminAnswer.Error(
                "the app ended meanwhile. What was decided has been done or not at all: 'ambrosia quarantine list' shows it when the app is back.");
        if (!_isDone)
        {
            if (!bodies.Aside.Any(body => body.Task == task))
                return AdminAnswer.Error($"there is no {NameOf(task)} in quarantine. 'ambrosia quarantine list' shows those that are.");
            _isDone = isRetry ? bodies.Retry(task) : bodies.TryGiveUp(task);
            if (!_isDone || !isRetry)
            {
                if (_isDone) commit();
                isLast = false;
                return null;
            }
        }
        if (!isRetry && bodies.Aside.Any(body => body.Task == task))
        {
            isLast = false;
            return null;
        }
        return new JsonObject { [isRetry ? "retried" : "dropped"] = NameOf(task) };
    }
}
