using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The command <c>checkpoint</c> (protocol P9.6): asks for one that holds all that is durable now, and answers when it is published, or
/// why it was given up. Of one connection's thread.
/// </summary>
internal sealed class CheckpointCommand : IAdminReply
{
    private readonly CheckpointDuty duty;
    private readonly Lsn wanted;
    private readonly long failuresBefore;

    private CheckpointCommand(CheckpointDuty duty, Lsn wanted)
    {
        this.duty = duty;
        this.wanted = wanted;
        failuresBefore = duty.News.Failures;
        duty.Request(wanted);
    }

    /// <param name="hasApp">An app executes the log's end: without one there is no state to write down.</param>
    public static IAdminReply Begin(CheckpointDuty duty, Lsn durable, bool hasApp) =>
        hasApp ? new CheckpointCommand(duty, durable)
        : AdminAnswer.Refuse(
            "no checkpoint can be taken now: no app runs here that has executed the log to its end. Start it, or ask again when 'status' shows it as primary.");

    public JsonObject? Next(out bool isLast)
    {
        CheckpointNews news = duty.News;
        isLast = true;
        if (news.Last is { } name && name.Lsn >= wanted)
            return new JsonObject { ["published"] = name.ToString(), ["lsn"] = name.Lsn.Value };
        if (news.Failures != failuresBefore)
            return AdminAnswer.Error($"no checkpoint yet: {news.Why}. It is tried again by itself; 'status' shows when there is one.");
        isLast = false;
        return null;
    }
}
