using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Holds what the log says up to some place: peers, input positions, the last digest position. The same fold for live delivery, replay and
/// checkpoints, so that "as of record x" means the same for all. One thread at a time.
/// </summary>
internal sealed class ReplayState
{
    private readonly List<PeerRecord> _peers = [];
    private readonly List<InputPosition> _inputs = [default];
    private readonly Dictionary<uint, ulong> _trims = [];
    private readonly Dictionary<InstanceId, int> _generations = [];

    public IReadOnlyList<PeerRecord> Peers => _peers;

    /// <summary>
    /// A forgotten peer keeps its place, so that ids stay what they are, and its UUID, which is never taken again; its epoch is 0 (L5.14).
    /// </summary>
    public static bool IsForgotten(PeerRecord peer) => peer.Epoch == default;

    /// <summary>How often the log has forgotten who had this name: the generation of the channel to it.</summary>
    public int GenerationOf(InstanceId name) => _generations.GetValueOrDefault(name);

    /// <summary>The names under which anyone was forgotten, each with the number of times.</summary>
    public IReadOnlyDictionary<InstanceId, int> Generations => _generations;

    /// <summary>Outputs to origin id known durable there, by the Trim records so far.</summary>
    public IReadOnlyDictionary<uint, ulong> Trims => _trims;

    public bool HasStarted { get; private set; }

    /// <summary>The policies in force (log-format L5.13).</summary>
    public PolicyRecord Policy { get; private set; } = PolicyRecord.Default;

    public InputPosition InputsOf(uint origin) => _inputs[(int)origin];

    /// <summary>The peer of an origin that <see cref="Fold"/> let pass.</summary>
    public InstanceId NameOf(uint origin) => _peers[(int)origin - 1].Peer;

    public static ReplayState From(CoordinatorPart? part)
    {
        var state = new ReplayState();
        if (part is null) return state;
        state.HasStarted = true;
        state.Policy = part.Policy;
        foreach (CheckpointPeer peer in part.Peers) state.Restore(peer);
        foreach (CheckpointInput input in part.Inputs)
        {
            if (input.Origin >= state._inputs.Count)
                throw new ProtocolViolation("L6.2", $"inputs of origin {input.Origin}, which is no peer");
            state._inputs[(int)input.Origin] = state._inputs[(int)input.Origin] with { Number = input.Number, Hash = input.Hash };
        }
        return state;
    }

    private void Restore(CheckpointPeer peer)
    {
        if (peer.Origin == 0)
        {
            _inputs[0] = _inputs[0] with { ImpulseEpoch = peer.Epoch, Impulses = peer.Impulses };
            return;
        }
        if (peer.Origin != _peers.Count + 1)
            throw new ProtocolViolation("L6.2", $"peer {peer.Peer} has origin {peer.Origin}, not {_peers.Count + 1}");
        _peers.Add(new PeerRecord(peer.Origin, peer.Peer, peer.Uuid, peer.Epoch));
        if (IsForgotten(_peers[^1])) Forgotten(peer.Peer);
        _inputs.Add(new InputPosition(0, 0, peer.Epoch, peer.Impulses));
    }

    public ReplayState Clone()
    {
        var copy = new ReplayState { HasStarted = HasStarted, Policy = Policy };
        copy._peers.AddRange(_peers);
        copy._inputs.Clear();
        copy._inputs.AddRange(_inputs);
        foreach ((uint origin, ulong number) in _trims) copy._trims[origin] = number;
        foreach ((InstanceId name, int generation) in _generations) copy._generations[name] = generation;
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
        if (run.Peer >= _inputs.Count) throw new ProtocolViolation("L5.2", $"run of origin {run.Peer} at {lsn}, which no Peer record names");
        if (run.Peer > 0 && IsForgotten(_peers[(int)run.Peer - 1]))
            throw new ProtocolViolation("L5.14", $"run at {lsn} of origin {run.Peer}, which was forgotten");
        InputPosition before = _inputs[(int)run.Peer];
        if (run.First != before.Next(run))
            throw new ProtocolViolation("L5.2",
                $"run at {lsn} begins at {run.First} where {before.Next(run)} is next for origin {run.Peer} (I1)");
        _inputs[(int)run.Peer] = before.After(run);
    }

    private void FoldTrim(Lsn lsn, TrimPosition trim)
    {
        if (trim.Origin == 0 || trim.Origin > _peers.Count)
            throw new ProtocolViolation("L5.6", $"trim at {lsn} of origin {trim.Origin}, which no Peer record names");
        // else it was on its way to the log when the Forget was
        if (!IsForgotten(_peers[(int)trim.Origin - 1])) _trims[trim.Origin] = trim.Number;
    }

    private void FoldForget(Lsn lsn, ForgetRecord record)
    {
        if (record.Origin > _peers.Count || _peers[(int)record.Origin - 1] is not { } known || IsForgotten(known)
            || known.Uuid != record.Uuid)
            throw new ProtocolViolation("L5.14", $"at {lsn} origin {record.Origin} ({record.Uuid}) is forgotten, which is no peer");
        _peers[(int)record.Origin - 1] = known with { Epoch = default };
        Forgotten(known.Peer);
        _inputs[(int)record.Origin] = default;
        _trims.Remove(record.Origin);
    }

    private void Forgotten(InstanceId name) => _generations[name] = GenerationOf(name) + 1;

    private void FoldPeer(Lsn lsn, PeerRecord record)
    {
        if (record.Origin == _peers.Count + 1)
        {
            _peers.Add(record);
            _inputs.Add(new InputPosition(0, 0, record.Epoch, 0));
            return;
        }
        if (record.Origin == 0 || record.Origin > _peers.Count)
            throw new ProtocolViolation("L5.4", $"peer record at {lsn} with origin {record.Origin}");
        PeerRecord before = _peers[(int)record.Origin - 1];
        if (IsForgotten(before))
            throw new ProtocolViolation("L5.14", $"peer record at {lsn} of origin {record.Origin}, which was forgotten");
        if (before.Peer != record.Peer || before.Uuid != record.Uuid || record.Epoch < before.Epoch)
            throw new ProtocolViolation("L5.4",
                $"peer record at {lsn} makes {before.Peer} of epoch {before.Epoch} into {record.Peer} of {record.Epoch}");
        _peers[(int)record.Origin - 1] = record;
        if (record.Epoch != _inputs[(int)record.Origin].ImpulseEpoch)
            _inputs[(int)record.Origin] = _inputs[(int)record.Origin] with { ImpulseEpoch = record.Epoch, Impulses = 0 };
    }
}
