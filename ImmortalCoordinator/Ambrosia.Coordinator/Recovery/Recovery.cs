using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Where an app session starts: the newest checkpoint that is whole, or the beginning of the log. Damaged checkpoints are passed over
/// loudly. Stateless; the files are the truth.
/// </summary>
internal sealed class Recovery(IFileSystem files, string directory, InstanceIdentity identity, Action<string> say)
{
    /// <summary>The newest valid checkpoint that covers nothing beyond <paramref name="durable"/>; null: there is none. The caller owns the reader.</summary>
    public FoundCheckpoint? Newest(Lsn durable)
    {
        foreach (CheckpointFileName name in Checkpoints.List(files, directory))
        {
            if (name.Lsn > durable) continue;
            try
            {
                CheckpointReader reader = CheckpointReader.Open(files, Path.Combine(directory, name.ToString()), identity);
                return new FoundCheckpoint(reader, CoordinatorPart.Read(reader.Coordinator.Span));
            }
            catch (Exception damage) when (damage is LogDamage or ProtocolViolation)
            {
                say($"checkpoint {name} is passed over: {damage.Message}");
            }
        }
        return null;
    }

    /// <summary>Gives outboxes back what a checkpoint says of them, before the first session of this process.</summary>
    public static void RestoreOutboxes(FoundCheckpoint checkpoint, OutboxSet outboxes, BlockPool pool)
    {
        foreach (CheckpointOutput output in checkpoint.Part.Outputs)
        {
            Outbox outbox = outboxes.GetOrAdd(output.Destination);
            outbox.Restore(KnownOf(output), new ChannelPosition(output.TrimmedNumber, output.TrimmedHash, output.TrimmedLastKind));
        }
        OutboxRuns.Restore(checkpoint.Reader, outboxes, pool);
        foreach (Outbox outbox in outboxes.InOrder()) outbox.RestoreDone();
    }

    /// <summary>Where each channel stood at the checkpoint.</summary>
    public static Dictionary<InstanceId, ChannelPosition> Positions(FoundCheckpoint? checkpoint)
    {
        var positions = new Dictionary<InstanceId, ChannelPosition>();
        if (checkpoint is null) return positions;
        foreach (CheckpointOutput output in checkpoint.Part.Outputs) positions[output.Destination] = KnownOf(output);
        return positions;
    }

    private static ChannelPosition KnownOf(CheckpointOutput output) => new(output.Number, output.Hash, output.LastKind);
}
