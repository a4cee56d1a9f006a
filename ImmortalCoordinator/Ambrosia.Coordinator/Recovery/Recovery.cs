using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Where an app session starts: the newest checkpoint that is whole, of the version that the log has there, and from which on the log is
/// kept; or the beginning of the log. Those that cannot serve are passed over loudly. Stateless; the files are the truth.
/// </summary>
internal sealed class Recovery(IFileSystem files, string directory, InstanceIdentity identity, LogChain chain, Action<string> say)
{
    /// <summary>
    /// The newest that covers nothing beyond <paramref name="durable"/>; null: there is none, and the log is kept from its beginning.
    /// The caller owns the reader.
    /// </summary>
    /// <param name="mayReadOn">More of the log may be durable than that: another replica is primary.</param>
    /// <exception cref="LogDamage">None can serve, and the log's beginning is not there any more.</exception>
    /// <exception cref="LogUnreadException">There are only later ones.</exception>
    public FoundCheckpoint? Newest(Lsn durable, bool mayReadOn = false)
    {
        var passed = new List<string>();
        bool isAnyLater = false;
        foreach (CheckpointFileName name in Checkpoints.List(files, directory))
        {
            isAnyLater |= name.Lsn > durable;
            if (name.Lsn > durable) continue;
            FoundCheckpoint? found = TryOpen(name, out string why);
            if (found is not null) return found;
            passed.Add($"{name} ({why})");
            say($"checkpoint {name} is passed over: {why}");
        }
        Lsn oldest = chain.Segments is [var first, ..] ? first.FirstLsn : Lsn.Zero;
        if (oldest == Lsn.Zero) return null;
        if (mayReadOn && isAnyLater && passed.Count == 0) throw new LogUnreadException(durable);
        throw new LogDamage(directory, 0, oldest, $"a whole checkpoint at {oldest} or behind, since the log below is not there any more",
            $"{(passed.Count == 0 ? "none" : string.Join("; ", passed))}. Put back a checkpoint of this instance from a backup, with the segments behind it, and start again; nothing was changed");
    }

    private FoundCheckpoint? TryOpen(CheckpointFileName name, out string why)
    {
        CheckpointReader? reader = null;
        try
        {
            reader = CheckpointReader.Open(files, Path.Combine(directory, name.ToString()), identity);
            why = WhatIsWrong(reader.Header);
            if (why.Length == 0) return new FoundCheckpoint(reader, CoordinatorPart.Read(reader.Coordinator.Span));
        }
        catch (Exception damage) when (damage is LogDamage or ProtocolViolation or FileNotFoundException)
        {
            why = damage.Message;
        }
        reader?.Dispose();
        return null;
    }

    private string WhatIsWrong(CheckpointHeader header)
    {
        if (!chain.TryFind(header.PageLsn, out _, out _)) return $"the log behind it, from {header.PageLsn} on, is not there any more";
        uint version = chain.VersionAt(header.Lsn);
        return header.AppVersion > version
            ? $"it is of app version {header.AppVersion}, the log there of {version}: an upgrade that never happened" : "";
    }

    /// <summary>Gives outboxes back what a checkpoint says of them, before the first session of this process.</summary>
    public static void RestoreOutboxes(FoundCheckpoint checkpoint, OutboxSet outboxes, BlockPool pool)
    {
        foreach (CheckpointOutput output in checkpoint.Part.Outputs)
        {
            Outbox outbox = outboxes.GetOrAdd(output.Destination);
            outbox.Restore(KnownOf(output), new ChannelPosition(output.TrimmedNumber, output.TrimmedHash, output.TrimmedLastKind));
        }
        foreach ((InstanceId name, int forgotten) in DeliveredState.From(checkpoint.Part).Generations)
            outboxes.GetOrAdd(name).RestoreGeneration(forgotten);
        OutboxRuns.Restore(checkpoint.Reader, outboxes, pool);
        checkpoint.Reader.Rewind(); // the image may be wanted next
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
