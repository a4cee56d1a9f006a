using System.Buffers;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Checkpoints;

/// <summary>
/// Holds the coordinator's part of a checkpoint, which is one deterministic CBOR array (log-format L6.2), so that equal states are equal
/// bytes on every replica. Invariant: outputs and digest counts stand in ordinal order of their destination, each once.
/// </summary>
/// <param name="DigestPosition">Position of the last digest.</param>
/// <param name="DigestCounts">Counts at that position; destinations without output are left out.</param>
public sealed record CoordinatorPart(
    IReadOnlyList<CheckpointPeer> Peers, IReadOnlyList<CheckpointInput> Inputs, IReadOnlyList<CheckpointOutput> Outputs,
    Lsn DigestPosition, IReadOnlyList<CheckpointDigestCount> DigestCounts)
{
    private const int PolicyItems = 4, PolicyItemsWithLimit = 5, PartsWithoutPolicy = 4, PartsWithPolicy = 5;
    private const int PeerItems = 6, InputItems = 3, OutputItems = 8, DigestItems = 2, CountItems = 3,
        DigestItemsWithAnswers = 4;

    /// <summary>The policies in force. The default ones are not written.</summary>
    public PolicyRecord Policy { get; init; } = PolicyRecord.Default;

    /// <summary>All answers to callers outside; they are not written as long as there are none.</summary>
    public AnswerDigest Answers { get; init; }

    /// <summary>Encodes the part.</summary>
    public byte[] ToBytes()
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        Write(ref to);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    /// <summary>Writes the part.</summary>
    /// <exception cref="ArgumentException">Destinations are not in order.</exception>
    public void Write(ref CborWriter to)
    {
        if (!IsInOrder(Outputs, static o => o.Destination) || !IsInOrder(DigestCounts, static c => c.Destination))
            throw new ArgumentException("outputs and counts of a checkpoint stand in ordinal order of their destination");
        bool hasPolicy = Policy != PolicyRecord.Default;
        to.WriteArrayHeader(hasPolicy ? PartsWithPolicy : PartsWithoutPolicy);
        to.WriteArrayHeader(Peers.Count);
        foreach (CheckpointPeer peer in Peers) WritePeer(ref to, peer);
        to.WriteArrayHeader(Inputs.Count);
        foreach (CheckpointInput input in Inputs) WriteInput(ref to, input);
        to.WriteArrayHeader(Outputs.Count);
        foreach (CheckpointOutput output in Outputs) WriteOutput(ref to, output);
        WriteDigest(ref to);
        if (hasPolicy) WritePolicy(ref to, Policy);
    }

    private void WriteDigest(ref CborWriter to)
    {
        bool hasAnswers = Answers != default;
        to.WriteArrayHeader(hasAnswers ? DigestItemsWithAnswers : DigestItems);
        to.WriteUInt64(DigestPosition.Value);
        to.WriteArrayHeader(DigestCounts.Count);
        foreach (CheckpointDigestCount count in DigestCounts) WriteCount(ref to, count);
        if (!hasAnswers) return;
        to.WriteUInt64(Answers.Count);
        to.WriteUInt64(Answers.Hash);
    }

    /// <summary>Decodes and checks the part.</summary>
    /// <exception cref="ProtocolViolation">L6.2.</exception>
    public static CoordinatorPart Read(ReadOnlySpan<byte> bytes)
    {
        var from = new CborReader(bytes);
        try
        {
            return ReadAll(ref from);
        }
        catch (CborException damage)
        {
            throw new ProtocolViolation("L6.2", $"the coordinator's part of a checkpoint: {damage.Message}", damage);
        }
    }

    public bool Equals(CoordinatorPart? other) =>
        other is not null && DigestPosition == other.DigestPosition && Peers.SequenceEqual(other.Peers)
        && Inputs.SequenceEqual(other.Inputs)
        && Outputs.SequenceEqual(other.Outputs) && DigestCounts.SequenceEqual(other.DigestCounts) && Policy == other.Policy
        && Answers == other.Answers;

    public override int GetHashCode() => HashCode.Combine(DigestPosition, Peers.Count, Inputs.Count, Outputs.Count);

    private static CoordinatorPart ReadAll(ref CborReader from)
    {
        int parts = from.ReadArrayHeader();
        if (parts is not (PartsWithoutPolicy or PartsWithPolicy)) throw Violation($"a coordinator's part of {parts} items");
        var peers = new List<CheckpointPeer>();
        for (int left = from.ReadArrayHeader(); left > 0; left--) peers.Add(ReadPeer(ref from));
        var inputs = new List<CheckpointInput>();
        for (int left = from.ReadArrayHeader(); left > 0; left--) inputs.Add(ReadInput(ref from));
        var outputs = new List<CheckpointOutput>();
        for (int left = from.ReadArrayHeader(); left > 0; left--) outputs.Add(ReadOutput(ref from));
        int digest = from.ReadArrayHeader();
        if (digest is not (DigestItems or DigestItemsWithAnswers)) throw Violation($"a digest of {digest} items");
        ulong position = from.ReadUInt64();
        if (position >= Lsn.Limit) throw Violation($"digest position {position}");
        var counts = new List<CheckpointDigestCount>();
        for (int left = from.ReadArrayHeader(); left > 0; left--) counts.Add(ReadCount(ref from));
        AnswerDigest answers = digest == DigestItemsWithAnswers ? ReadAnswers(ref from) : default;
        PolicyRecord policy = parts == PartsWithPolicy ? ReadPolicy(ref from) : PolicyRecord.Default;

        if (!from.AtEnd) throw Violation($"{from.Remaining.Length} bytes behind the coordinator's part");
        if (!IsInOrder(outputs, static o => o.Destination) || !IsInOrder(counts, static c => c.Destination))
            throw Violation("destinations out of order");
        return new CoordinatorPart(peers, inputs, outputs, new Lsn(position), counts) { Policy = policy, Answers = answers };
    }

    private static AnswerDigest ReadAnswers(ref CborReader from)
    {
        var answers = new AnswerDigest(from.ReadUInt64(), from.ReadUInt64());
        return answers.Count > 0 ? answers : throw Violation("a digest of no answers, which is not written");
    }

    private static void WritePolicy(ref CborWriter to, PolicyRecord policy)
    {
        bool hasLimit = policy.MessageBytesMax != SizeLimits.MessageBytesMaxDefault;
        to.WriteArrayHeader(hasLimit ? PolicyItemsWithLimit : PolicyItems);
        to.WriteUInt64((byte)policy.Forks);
        to.WriteUInt64(policy.WindowUs);
        to.WriteUInt64(policy.EntriesMax);
        to.WriteUInt64(policy.BytesMax);
        if (hasLimit) to.WriteUInt64(policy.MessageBytesMax);
    }

    private static PolicyRecord ReadPolicy(ref CborReader from)
    {
        int items = from.ReadArrayHeader();
        if (items is not (PolicyItems or PolicyItemsWithLimit)) throw Violation($"policies of {items} items");
        byte forks = from.ReadByte();
        if (forks > (byte)ForkPolicy.Quarantine) throw Violation($"fork policy {forks}");
        var policy = new PolicyRecord((ForkPolicy)forks, from.ReadUInt64(), from.ReadUInt64(), from.ReadUInt64());
        if (items == PolicyItemsWithLimit) policy = policy with { MessageBytesMax = MessageLimit(from.ReadUInt64()) };
        return policy != PolicyRecord.Default ? policy : throw Violation("the default policies, which are not written");
    }

    private static uint MessageLimit(ulong limit) =>
        limit is > 0 and <= SizeLimits.MessageBytesMaxLimit and not SizeLimits.MessageBytesMaxDefault ? (uint)limit
            : throw Violation($"a message limit of {limit} bytes");

    private static void WritePeer(ref CborWriter to, CheckpointPeer peer)
    {
        to.WriteArrayHeader(PeerItems);
        to.WriteUInt64(peer.Origin);
        to.WriteUInt64(peer.Peer.Shard);
        to.WriteGuid(peer.Uuid);
        to.WriteUInt64(peer.Epoch.Value);
        to.WriteString(peer.Peer.Name);
        to.WriteUInt64(peer.Impulses);
    }

    private static CheckpointPeer ReadPeer(ref CborReader from)
    {
        ExpectArray(ref from, PeerItems);
        uint origin = from.ReadUInt32();
        ushort shard = from.ReadUInt16();
        Guid uuid = from.ReadGuid();
        var epoch = new Epoch(from.ReadUInt64());
        return new CheckpointPeer(origin, new InstanceId(ReadName(ref from), shard), uuid, epoch, from.ReadUInt64());
    }

    private static void WriteInput(ref CborWriter to, CheckpointInput input)
    {
        to.WriteArrayHeader(InputItems);
        to.WriteUInt64(input.Origin);
        to.WriteUInt64(input.Number);
        to.WriteUInt64(input.Hash);
    }

    private static CheckpointInput ReadInput(ref CborReader from)
    {
        ExpectArray(ref from, InputItems);
        return new CheckpointInput(from.ReadUInt32(), from.ReadUInt64(), from.ReadUInt64());
    }

    private static void WriteOutput(ref CborWriter to, CheckpointOutput output)
    {
        to.WriteArrayHeader(OutputItems);
        to.WriteUInt64(output.Destination.Shard);
        to.WriteString(output.Destination.Name);
        to.WriteUInt64(output.Number);
        to.WriteUInt64(output.Hash);
        to.WriteUInt64((byte)output.LastKind);
        to.WriteUInt64(output.TrimmedNumber);
        to.WriteUInt64(output.TrimmedHash);
        to.WriteUInt64((byte)output.TrimmedLastKind);
    }

    private static CheckpointOutput ReadOutput(ref CborReader from)
    {
        ExpectArray(ref from, OutputItems);
        ushort shard = from.ReadUInt16();
        var output = new CheckpointOutput(
            new InstanceId(ReadName(ref from), shard), from.ReadUInt64(), from.ReadUInt64(), ReadKind(ref from),
            from.ReadUInt64(), from.ReadUInt64(), ReadKind(ref from));
        return output.TrimmedNumber <= output.Number ? output
            : throw Violation($"outputs to {output.Destination} trimmed beyond their last");
    }

    private static void WriteCount(ref CborWriter to, CheckpointDigestCount count)
    {
        to.WriteArrayHeader(CountItems);
        to.WriteUInt64(count.Destination.Shard);
        to.WriteString(count.Destination.Name);
        to.WriteUInt64(count.Count);
    }

    private static CheckpointDigestCount ReadCount(ref CborReader from)
    {
        ExpectArray(ref from, CountItems);
        ushort shard = from.ReadUInt16();
        return new CheckpointDigestCount(new InstanceId(ReadName(ref from), shard), from.ReadUInt64());
    }

    private static void ExpectArray(ref CborReader from, int items)
    {
        int count = from.ReadArrayHeader();
        if (count != items) throw Violation($"array of {count} items where {items} are due, before byte {from.Position}");
    }

    private static string ReadName(ref CborReader from)
    {
        string name = from.ReadString();
        return Names.IsValid(name) ? name : throw Violation($"a name with characters that names do not have before byte {from.Position}");
    }

    private static MessageKind ReadKind(ref CborReader from)
    {
        byte kind = from.ReadByte();
        return kind <= (byte)MessageKind.Failure ? (MessageKind)kind : throw Violation($"last kind {kind} of a channel");
    }

    private static bool IsInOrder<T>(IReadOnlyList<T> items, Func<T, InstanceId> destination)
    {
        for (int i = 1; i < items.Count; i++)
            if (destination(items[i - 1]).CompareTo(destination(items[i])) >= 0) return false;
        return true;
    }

    private static ProtocolViolation Violation(string what) => new("L6.2", what);
}

/// <summary>States how many messages had been emitted to one destination at the last digest position (log-format L6.2).</summary>
public sealed record CheckpointDigestCount(InstanceId Destination, ulong Count);

/// <summary>States how far the inputs of one origin have come (log-format L6.2); origin 0 is the instance itself.</summary>
/// <param name="Number">Number of the last input.</param>
/// <param name="Hash">Channel hash of the sender at that number.</param>
public sealed record CheckpointInput(uint Origin, ulong Number, ulong Hash);

/// <summary>States the last emitted and the last trimmed message of the outputs to one destination (log-format L6.2).</summary>
/// <param name="LastKind">Kind of the last message; 0 before the first.</param>
public sealed record CheckpointOutput(
    InstanceId Destination, ulong Number, ulong Hash, MessageKind LastKind, ulong TrimmedNumber, ulong TrimmedHash,
    MessageKind TrimmedLastKind);

/// <summary>States what a checkpoint keeps of a peer (log-format L6.2).</summary>
/// <param name="Origin">Origin id in the log, from 1; 0 for the instance itself, which is there for the impulses of its own app.</param>
/// <param name="Epoch">Highest epoch seen of the peer; 0 if it was forgotten (L5.14). For the instance itself it is the epoch of its last
/// impulses.</param>
/// <param name="Impulses">Number of impulses of that epoch that are in the log.</param>
public sealed record CheckpointPeer(uint Origin, InstanceId Peer, Guid Uuid, Epoch Epoch, ulong Impulses);
