using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>checkpoint</c> (protocol P9.6): it asks for one that holds all that is durable now, and answers when it is
/// published, or why it was given up. One connection's thread uses it.
/// </summary>
internal sealed class CheckpointCommand : IAdminReply
{
    private readonly CheckpointTrigger _trigger;
    private readonly Lsn _wanted;
    private readonly long _failuresBefore;

    private CheckpointCommand(CheckpointTrigger trigger, Lsn wanted)
    {
        _trigger = trigger;
        _wanted = wanted;
        _failuresBefore = trigger.Status.Failures;
        trigger.Request(wanted);
    }

    /// <param name="hasApp">An app executes the log's end: without one there is no state to write down.</param>
    public static IAdminReply Begin(CheckpointTrigger trigger, Lsn durable, bool hasApp) =>
        hasApp ? new CheckpointCommand(trigger, durable)
        : AdminAnswer.Refuse(
            "no checkpoint can be taken now: no app runs here that has executed the log to its end. Start it, or ask again when 'status' shows it as primary.");

    public JsonObject? Next(out bool isLast)
    {
        CheckpointStatus status = _trigger.Status;
        isLast = true;
        if (status.Last is { } name && name.Lsn >= _wanted)
            return new JsonObject { ["published"] = name.ToString(), ["lsn"] = name.Lsn.Value };
        if (status.Failures != _failuresBefore)
            return AdminAnswer.Error($"no checkpoint yet: {status.Why}. It is tried again by itself; 'status' shows when there is one.");
        isLast = false;
        return null;
    }
}
