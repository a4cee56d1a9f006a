using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>checkpoint</c> (protocol P9.6): it asks for one that holds all that is durable now, and answers when it is
/// published, or why it was given up, or when that takes too long. One connection's thread uses it.
/// </summary>
internal sealed class CheckpointCommand : IAdminReply
{
    /// <summary>Whoever asks is answered within this time: the tool itself would take the replica for dead behind a minute.</summary>
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(45);

    private readonly CheckpointTrigger _trigger;
    private readonly CoordinatorInputs _inputs;
    private readonly long _begun;
    private readonly Lsn _wanted;
    private readonly long _failuresBefore;

    private CheckpointCommand(CoordinatorInputs inputs, CheckpointTrigger trigger, Lsn wanted)
    {
        (_inputs, _begun) = (inputs, inputs.Time.GetTimestamp());
        _trigger = trigger;
        _wanted = wanted;
        _failuresBefore = trigger.Status.Failures;
        trigger.Request(wanted);
    }

    /// <param name="hasApp">An app executes the log's end: without one there is no state to write down.</param>
    public static IAdminReply Begin(CoordinatorInputs inputs, CheckpointTrigger trigger, Lsn durable, bool hasApp) =>
        hasApp ? new CheckpointCommand(inputs, trigger, durable)
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
        isLast = _inputs.Time.GetElapsedTime(_begun) >= s_patience;
        if (!isLast) return null;
        return AdminAnswer.Error(
            $"no checkpoint within {s_patience.TotalSeconds:0} s. It is made by itself all the same, and 'status' shows when there is one. The app writes its state down where no call is suspended{WhatEndsTheWait()}; a large state may also take longer to be written");
    }

    /// <summary>An app at rest says nothing of what it waits for: its log does not grow.</summary>
    private string WhatEndsTheWait() => _inputs.Options.MarkBoundBytes is > 0 and var bound
        ? $", or with what is suspended once the log has grown by {bound} bytes (--checkpoint-bound)" : "";
}
