using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What the log says up to some place: peers, input positions, the last digest position. The same fold for live delivery, replay and
/// checkpoints, so that "as of record x" means the same for all. One thread at a time.
/// </summary>
internal sealed class DeliveredState
{
    private readonly List<PeerRecord> peers = [];
    private readonly List<InputPosition> inputs = [default];
    private readonly Dictionary<uint, ulong> trims = [];
    private readonly Dictionary<InstanceId, int> generations = [];

    public IReadOnlyList<PeerRecord> Peers => peers;

    /// <summary>
    /// A forgotten peer keeps its place, so that ids stay what they are, and its UUID, which is never taken again; its epoch is 0 (L5.14).
    /// </summary>
    public static bool IsForgotten(PeerRecord peer) => peer.Epoch == default;

    /// <summary>How often the log has forgotten who had this name: the generation of the channel to it.</summary>
    public int GenerationOf(InstanceId name) => generations.GetValueOrDefault(name);

    /// <summary>Of the names of which anyone was forgotten.</summary>
    public IReadOnlyDictionary<InstanceId, int> Generations => generations;

    /// <summary>Outputs to origin id known durable there, by the Trim records so far.</summary>
    public IReadOnlyDictionary<uint, ulong> Trims => trims;

    public bool HasStarted { get; private set; }

    /// <summary>The policies in force (log-format L5.13).</summary>
    public PolicyRecord Policy { get; private set; } = PolicyRecord.Default;

    public InputPosition InputsOf(uint origin) => inputs[(int)origin];

    /// <summary>The peer of an origin that <see cref="Fold"/> let pass.</summary>
    public InstanceId NameOf(uint origin) => peers[(int)origin - 1].Peer;

    public static DeliveredState From(CoordinatorPart? part)
    {
        var state = new DeliveredState();
        if (part is null) return state;
        state.HasStarted = true;
        state.Policy = part.Policy;
        foreach (CheckpointPeer peer in part.Peers) state.Restore(peer);
        foreach (CheckpointInput input in part.Inputs)
        {
            if (input.Origin >= state.inputs.Count)
                throw new ProtocolViolation("L6.2", $"inputs of origin {input.Origin}, which is no peer");
            state.inputs[(int)input.Origin] = state.inputs[(int)input.Origin] with { Number = input.Number, Hash = input.Hash };
        }
        return state;
    }

    private void Restore(CheckpointPeer peer)
    {
        if (peer.Origin == 0)
        {
            inputs[0] = inputs[0] with { ImpulseEpoch = peer.Epoch, Impulses = peer.Impulses };
            return;
        }
        if (peer.Origin != peers.Count + 1)
            throw new ProtocolViolation("L6.2", $"peer {peer.Peer} has origin {peer.Origin}, not {peers.Count + 1}");
        peers.Add(new PeerRecord(peer.Origin, peer.Peer, peer.Uuid, peer.Epoch));
        if (IsForgotten(peers[^1])) Forgotten(peer.Peer);
        inputs.Add(new InputPosition(0, 0, peer.Epoch, peer.Impulses));
    }

    public DeliveredState Clone()
    {
        var copy = new DeliveredState { HasStarted = HasStarted, Policy = Policy };
        copy.peers.AddRange(peers);
        copy.inputs.Clear();
        copy.inputs.AddRange(inputs);
        foreach ((uint origin, ulong number) in trims) copy.trims[origin] = number;
        foreach ((InstanceId name, int generation) in generations) copy.generations[name] = generation;
        return copy;
    }

    /// <summary>Takes the reader's current record in.</summary>
    /// <exception cref="ProtocolViolation">The log holds what it must not: I1 or L5 is broken.</exception>
    public void Fold(in RecordReader record)
    {
        switch (record.Kind)
        {
            case RecordKind.Run or RecordKind.ImpulseRun: FoldRun(record.Lsn, record.ReadRun().Header); break;
            case RecordKind.Peer: FoldPeer(record.Lsn, record.Read<PeerRecord>()); break;
            case RecordKind.Trim:
                foreach (TrimPosition trim in record.Read<TrimRecord>().Positions) FoldTrim(record.Lsn, trim);
                break;
            case RecordKind.Forget: FoldForget(record.Lsn, record.Read<ForgetRecord>()); break;
            case RecordKind.FirstStart: HasStarted = true; break;
            case RecordKind.Policy: Policy = record.Read<PolicyRecord>(); break;
        }
    }

    /// <summary>Takes in what the header of a run says.</summary>
    public void FoldRun(Lsn lsn, in RunHeader run)
    {
        if (run.Peer >= inputs.Count) throw new ProtocolViolation("L5.2", $"run of origin {run.Peer} at {lsn}, which no Peer record names");
        if (run.Peer > 0 && IsForgotten(peers[(int)run.Peer - 1]))
            throw new ProtocolViolation("L5.14", $"run at {lsn} of origin {run.Peer}, which was forgotten");
        InputPosition before = inputs[(int)run.Peer];
        if (run.First != before.Next(run))
            throw new ProtocolViolation("L5.2",
                $"run at {lsn} begins at {run.First} where {before.Next(run)} is next for origin {run.Peer} (I1)");
        inputs[(int)run.Peer] = before.After(run);
    }

    private void FoldTrim(Lsn lsn, TrimPosition trim)
    {
        if (trim.Origin == 0 || trim.Origin > peers.Count)
            throw new ProtocolViolation("L5.6", $"trim at {lsn} of origin {trim.Origin}, which no Peer record names");
        // else it was on its way to the log when the Forget was
        if (!IsForgotten(peers[(int)trim.Origin - 1])) trims[trim.Origin] = trim.Number;
    }

    private void FoldForget(Lsn lsn, ForgetRecord record)
    {
        if (record.Origin > peers.Count || peers[(int)record.Origin - 1] is not { } known || IsForgotten(known)
            || known.Uuid != record.Uuid)
            throw new ProtocolViolation("L5.14", $"at {lsn} origin {record.Origin} ({record.Uuid}) is forgotten, which is no peer");
        peers[(int)record.Origin - 1] = known with { Epoch = default };
        Forgotten(known.Peer);
        inputs[(int)record.Origin] = default;
        trims.Remove(record.Origin);
    }

    private void Forgotten(InstanceId name) => generations[name] = GenerationOf(name) + 1;

    private void FoldPeer(Lsn lsn, PeerRecord record)
    {
        if (record.Origin == peers.Count + 1)
        {
            peers.Add(record);
            inputs.Add(new InputPosition(0, 0, record.Epoch, 0));
            return;
        }
        if (record.Origin == 0 || record.Origin > peers.Count)
            throw new ProtocolViolation("L5.4", $"peer record at {lsn} with origin {record.Origin}");
        PeerRecord before = peers[(int)record.Origin - 1];
        if (IsForgotten(before))
            throw new ProtocolViolation("L5.14", $"peer record at {lsn} of origin {record.Origin}, which was forgotten");
        if (before.Peer != record.Peer || before.Uuid != record.Uuid || record.Epoch < before.Epoch)
            throw new ProtocolViolation("L5.4",
                $"peer record at {lsn} makes {before.Peer} of epoch {before.Epoch} into {record.Peer} of {record.Epoch}");
        peers[(int)record.Origin - 1] = record;
        if (record.Epoch != inputs[(int)record.Origin].ImpulseEpoch)
            inputs[(int)record.Origin] = inputs[(int)record.Origin] with { ImpulseEpoch = record.Epoch, Impulses = 0 };
    }
}
