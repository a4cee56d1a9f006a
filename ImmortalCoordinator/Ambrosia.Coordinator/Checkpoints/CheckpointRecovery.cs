using System.Collections.Immutable;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Finds where an app session starts: the newest checkpoint that is whole, of the version that the log has there, and from which on the log
/// is kept; or the beginning of the log. Those that cannot serve are passed over loudly. The files are the truth, but for the checkpoints
/// that the app has refused to restore: their list is here, and lives as long as the process. Any thread.
/// </summary>
internal sealed class CheckpointRecovery(LogLocation location, LogChain chain, ILogger logger)
{
    /// <summary>What the app could not restore, newest last; each is there once. It is replaced as a whole.</summary>
    private ImmutableArray<RefusedCheckpoint> _refused = [];

    /// <summary>The checkpoints that the app could not restore since this process began, newest refusal last.</summary>
    public ImmutableArray<RefusedCheckpoint> Refused => _refused;

    /// <summary>Returns whether the app could not restore a checkpoint.</summary>
    public bool IsRefused(CheckpointFileName name) => _refused.Any(each => each.Name == name);

    /// <summary>The app cannot restore a checkpoint: sessions begin with an older one from here on. The file stays.</summary>
    public void Refuse(CheckpointFileName name, string why)
    {
        if (IsRefused(name)) return;
        ImmutableInterlocked.Update(ref _refused, static (all, more) => all.Add(more), new RefusedCheckpoint(name, why));
        logger.CheckpointUnrestorable(name.ToString(), why);
    }

    /// <summary>
    /// Says whether a session can begin with what covers nothing beyond a place, as far as names tell: with a checkpoint, or with the
    /// beginning of the log.
    /// </summary>
    public bool MayBeginBy(Lsn place) =>
        chain.Segments is not [var oldest, ..] || oldest.FirstLsn == Lsn.Zero
        || CheckpointDirectory.List(location.Files, location.Directory).Any(name => name.Lsn <= place);

    /// <summary>
    /// The newest that covers nothing beyond <paramref name="durable"/>; null: there is none, and the log is kept from its beginning.
    /// The caller owns the reader.
    /// </summary>
    /// <param name="mayReadOn">More of the log may be durable than that: another replica is primary.</param>
    /// <exception cref="UnrestorableException">The app can restore none, and the log's beginning is not there any more.</exception>
    /// <exception cref="LogDamage">None can serve for another reason.</exception>
    /// <exception cref="LogUnreadException">There are only later ones.</exception>
    public RestoredCheckpoint? Newest(Lsn durable, bool mayReadOn = false)
    {
        var passed = new List<string>();
        bool isAnyLater = false;
        foreach (CheckpointFileName name in CheckpointDirectory.List(location.Files, location.Directory))
        {
            isAnyLater |= name.Lsn > durable;
            if (name.Lsn > durable) continue;
            if (_refused.FirstOrDefault(each => each.Name == name) is { } refused)
            {
                passed.Add($"{name} (the app cannot restore it: {refused.Why})");
                continue;
            }
            RestoredCheckpoint? found = TryOpen(name, out string why);
            if (found is not null) return found;
            passed.Add($"{name} ({why})");
            logger.CheckpointSkipped(name.ToString(), why);
        }
        Lsn oldest = chain.Segments is [var first, ..] ? first.FirstLsn : Lsn.Zero;
        if (oldest == Lsn.Zero) return null;
        if (mayReadOn && isAnyLater && passed.Count == 0) throw new LogUnreadException(durable);
        if (!_refused.IsEmpty) throw new UnrestorableException(passed);
        throw new LogDamage(location.Directory, 0, oldest, $"a whole checkpoint at {oldest} or behind, since the log below is not there any more",
            $"{(passed.Count == 0 ? "none" : string.Join("; ", passed))}. Put back a checkpoint of this instance from a backup, with the segments behind it, and start again; nothing was changed");
    }

    private RestoredCheckpoint? TryOpen(CheckpointFileName name, out string why)
    {
        CheckpointReader? reader = null;
        try
        {
            reader = CheckpointReader.Open(location.Files, Path.Combine(location.Directory, name.ToString()), location.Identity);
            why = LogStart.WhatIsWrong(location, reader.Header, chain);
            if (why.Length == 0)
            {
                CoordinatorPart part = CoordinatorPart.Read(reader.CoordinatorBytes.Span);
                ReplayState.From(part); // here, where an older one can take its place
                return new RestoredCheckpoint(reader, part);
            }
        }
        catch (Exception damage) when (damage is LogDamage or ProtocolViolation or FileNotFoundException)
        {
            why = damage.Message;
        }
        reader?.Dispose();
        return null;
    }

    /// <summary>Gives outboxes back what a checkpoint says of them, before the first session of this process.</summary>
    public static void RestoreOutboxes(RestoredCheckpoint checkpoint, OutboxSet outboxes, BlockPool pool)
    {
        foreach (CheckpointOutput output in checkpoint.Part.Outputs)
        {
            Outbox outbox = outboxes.GetOrAdd(output.Destination);
            outbox.Restore(KnownOf(output), new ChannelPosition(output.TrimmedNumber, output.TrimmedHash, output.TrimmedLastKind));
        }
        foreach ((InstanceId name, int forgotten) in ReplayState.From(checkpoint.Part).Generations)
            outboxes.GetOrAdd(name).RestoreGeneration(forgotten);
        OutboxRuns.Restore(checkpoint.Reader, outboxes, pool);
        checkpoint.Reader.Rewind(); // the image may be wanted next
        foreach (Outbox outbox in outboxes.InOrder()) outbox.RestoreDone();
    }

    /// <summary>Returns the position at which each channel stood at the checkpoint.</summary>
    public static Dictionary<InstanceId, ChannelPosition> Positions(RestoredCheckpoint? checkpoint)
    {
        var positions = new Dictionary<InstanceId, ChannelPosition>();
        if (checkpoint is null) return positions;
        foreach (CheckpointOutput output in checkpoint.Part.Outputs) positions[output.Destination] = KnownOf(output);
        return positions;
    }

    private static ChannelPosition KnownOf(CheckpointOutput output) => new(output.Number, output.Hash, output.LastKind);
}

/// <summary>Names a checkpoint that the app could not restore, and says why in the app's words.</summary>
internal sealed record RefusedCheckpoint(CheckpointFileName Name, string Why);

/// <summary>Holds a whole checkpoint: its coordinator part in memory; outboxes and image are streamed from the open file.</summary>
internal sealed record RestoredCheckpoint(CheckpointReader Reader, CoordinatorPart Part) : IDisposable
{
    public CheckpointHeader Header => Reader.Header;

    public void Dispose() => Reader.Dispose();
}
