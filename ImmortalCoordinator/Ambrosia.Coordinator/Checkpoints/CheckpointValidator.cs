using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// What a primary checks of a checkpoint that a secondary has published, before anything rests on it: that the calls in it are the calls
/// that the primary's own app has made. A replica that differs would otherwise hand its difference on by its checkpoints.
/// </summary>
internal static class CheckpointValidator
{
    /// <summary>
    /// Null: nothing differs that can be compared; numbers that our app has not reached, or that are trimmed, or for a receiver that was
    /// forgotten since, cannot.
    /// </summary>
    /// <exception cref="LogDamage">The file is damaged.</exception>
    public static string? WhatDiffers(CheckpointReader checkpoint, OutboxSet outboxes)
    {
        CoordinatorPart part = CoordinatorPart.Read(checkpoint.CoordinatorBytes.Span);
        IReadOnlyDictionary<InstanceId, int> generations = ReplayState.From(part).Generations;
        foreach (CheckpointOutput output in part.Outputs)
        {
            if (!outboxes.TryGet(output.Destination, out Outbox? outbox)
                || outbox.Generation != generations.GetValueOrDefault(output.Destination)
                || !outbox.TryPositionAt(output.Number, out ChannelPosition own)) continue;
            if (own.Hash != output.Hash)
                return $"it says hash {output.Hash:x16} after {output.Number} calls to {output.Destination}, our app has {own.Hash:x16}";
        }
        return null;
    }
}
