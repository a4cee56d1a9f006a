using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Makes the coordinator's part of a checkpoint, as of the very record where the app stands: peers and inputs by the fold to there, outputs
/// as emitted up to there and trimmed by the Trim records up to there. Called on the thread that reads the app, between two of its frames.
/// </summary>
internal sealed class CheckpointSnapshot(
    CoordinatorInputs inputs, LogReaders readers, OutboxSet outboxes, AppExecution execution) : ICheckpointSource
{
    private readonly InstanceIdentity _identity = inputs.Identity;
    private readonly string _replica = inputs.Options.Replica;

    private volatile IVersionCheckpoint? _upgrade;

    /// <summary>It asks for the checkpoint of a version that is not in force yet; null: nobody does. Any thread.</summary>
    public IVersionCheckpoint? Upgrade { get => _upgrade; set => _upgrade = value; }

    /// <param name="why">Why there is none now: this replica is so far behind that the log at its mark was removed by the primary, or
    /// outputs were dropped before their place.</param>
    /// <exception cref="ProtocolViolation">P5.7, P5.8: no mark asked for it.</exception>
    public CheckpointJob? Take(ImageBegin begin, out string why)
    {
        IVersionCheckpoint? upgrade = _upgrade;
        VersionPlace? other = upgrade?.TakeFor(begin.Position);
        CheckpointJob? job = Take(begin, other is null ? null : (other, upgrade!), out why);
        if (job is null && other is not null) upgrade!.Failed(why);
        return job;
    }

    /// <param name="other">The checkpoint is of another version than the log's; null: it is not.</param>
    private CheckpointJob? Take(ImageBegin begin, (VersionPlace Place, IVersionCheckpoint Outcome)? other, out string why)
    {
        why = "the log at its mark is not there any more: this replica is behind, and there is a newer one";
        MarkSnapshot mark = other?.Place.At ?? execution.Delivery.Marks.TakeFor(begin.Position)
            ?? throw new ProtocolViolation("P5.8", $"an image at {begin.Position} that no mark asked for");
        Lsn page = execution.Progress.ProcessedPage;
        using LogReader reader = readers.New();
        ReplayState? state = StateAtPosition.At(reader, mark, page, begin.Position, out ulong previousHash);
        if (state is null) return execution.OwnsLog ? throw reader.MissingPage(mark.PageLsn) : null;
        var header = new CheckpointHeader(_identity.Shard, _identity.Uuid, begin.Position, page, mark.Mark.Epoch,
            other?.Place.Version ?? readers.VersionAt(begin.Position),
            begin.ImageVersion, inputs.Time.GetUtcNow().ToUnixTimeMilliseconds() * 1000, previousHash, _replica)
        {
            Build = other is { } made ? made.Place.Build : execution.Delivery.Build,
        };
        if (OutputsAt(state, ref why) is not { } outputs) return null;
        return new CheckpointJob(header, PartOf(state, outputs), outputs, IsOurs: mark.Mark.Replica == _replica)
        {
            Outcome = other?.Outcome, MayBeNamed = other is null ? execution.NamingOf(mark) : null,
        };
    }

    /// <summary>
    /// Returns what a checkpoint of the place where the app stands would say of the coordinator; null: outputs were dropped before their
    /// place.
    /// </summary>
    /// <param name="state">The fold of the log up to there.</param>
    public CoordinatorPart? PartAt(ReplayState state)
    {
        string why = "";
        if (OutputsAt(state, ref why) is not { } outputs) return null;
        Release(outputs);
        return PartOf(state, outputs);
    }

    private List<(Outbox, CheckpointOutput, List<OutboxEntry>)>? OutputsAt(ReplayState state, ref string why)
    {
        var outputs = new List<(Outbox, CheckpointOutput, List<OutboxEntry>)>();
        Dictionary<InstanceId, ulong> trims = state.Trims.ToDictionary(trim => state.NameOf(trim.Key), static trim => trim.Value);
        foreach (Outbox outbox in outboxes.InOrder())
        {
            if (outbox.Emitted.Number == 0) continue; // one that only a connection has made is not part of the state
            ulong trimmed = outbox == outboxes.Self ? state.InputsOf(0).Number : trims.GetValueOrDefault(outbox.Destination);
            if (OutputOf(outbox, trimmed) is { } output) outputs.Add(output);
            else
            {
                why =
                    $"there was no room for outputs, and what {outbox.Destination} has acknowledged was dropped before its place in the log";
                Release(outputs);
                return null;
            }
        }
        return outputs;
    }

    public void Forget(ImageBegin begin) => execution.Delivery.Marks.TakeFor(begin.Position);

    private static void Release(List<(Outbox Outbox, CheckpointOutput, List<OutboxEntry> Held)> outputs)
    {
        foreach ((Outbox outbox, _, List<OutboxEntry> held) in outputs)
            foreach (OutboxEntry entry in held) outbox.Release(entry);
    }

    /// <summary>
    /// Null: the outbox was trimmed early (<see cref="Outbox.TrimEarly"/>), and has not what the log says that it has here.
    /// </summary>
    private static (Outbox, CheckpointOutput, List<OutboxEntry>)? OutputOf(Outbox outbox, ulong trimmedByLog)
    {
        if (!outbox.TryPositionAt(Math.Max(outbox.Stated, trimmedByLog), out ChannelPosition start)) return null;
        ChannelPosition end = outbox.Emitted;
        var entries = new List<OutboxEntry>();
        outbox.HoldCalls(start.Number, end.Number, entries);
        var output = new CheckpointOutput(outbox.Destination, end.Number, end.Hash, end.LastKind, start.Number, start.Hash, start.LastKind);
        return (outbox, output, entries);
    }

    private CoordinatorPart PartOf(ReplayState state, List<(Outbox Outbox, CheckpointOutput Output, List<OutboxEntry>)> outputs)
    {
        var peers = new List<CheckpointPeer>();
        InputPosition own = state.InputsOf(0);
        if (own.Impulses > 0)
            peers.Add(new CheckpointPeer(0, outboxes.Self.Destination, _identity.Uuid, own.ImpulseEpoch, own.Impulses));
        peers.AddRange(
            state.Peers.Select(
                peer => new CheckpointPeer(peer.Origin, peer.Peer, peer.Uuid, peer.Epoch, state.InputsOf(peer.Origin).Impulses)));
        var inputs = Enumerable.Range(0, state.Peers.Count + 1)
            .Select(origin => new CheckpointInput((uint)origin, state.InputsOf((uint)origin).Number, state.InputsOf((uint)origin).Hash));
        var counts = outputs.Where(static o => o.Outbox.DigestedCount > 0)
            .Select(static o => new CheckpointDigestCount(o.Outbox.Destination, o.Outbox.DigestedCount));
        return new CoordinatorPart(peers, [.. inputs], [.. outputs.Select(static o => o.Output)],
            execution.DigestWriter.Position, [.. counts])
        {
            Policy = state.Policy, Answers = execution.DigestWriter.Answers
        };
    }
}
