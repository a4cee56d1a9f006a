using System.Buffers.Binary;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Records;

/// <summary>Asks a replica for a checkpoint (log-format L5.8, protocol P5.8).</summary>
/// <param name="BoundBytes">Log bytes after which the checkpoint is taken even with suspended handlers; 0 to wait for a quiet
/// record.</param>
/// <param name="Replica">Name of the replica that is to take it.</param>
public sealed record CheckpointMarkRecord(Epoch Epoch, ulong BoundBytes, string Replica) : IRecordBody<CheckpointMarkRecord>
{
    public static RecordKind Kind => RecordKind.CheckpointMark;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Epoch.Value);
        to.U64(BoundBytes);
        to.Name(Replica);
    }

    public static CheckpointMarkRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new CheckpointMarkRecord(new Epoch(from.U64()), from.U64(), from.Name());
        from.End();
        return record;
    }
}

/// <summary>
/// States the app's outputs as of a position: to each destination that changed since the digest before, and its answers to callers
/// outside (log-format L5.7).
/// </summary>
public sealed record DigestRecord(Lsn Position, IReadOnlyList<DigestEntry> Entries) : IRecordBody<DigestRecord>
{
    private const int EntryBytesMin = 2 + 2 + 8 + 8;

    /// <summary>All answers to callers outside up to the position. They are not written as long as there are none.</summary>
    public AnswerDigest Answers { get; init; }

    public static RecordKind Kind => RecordKind.Digest;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Position.Value);
        to.Varint((ulong)Entries.Count);
        foreach (DigestEntry entry in Entries)
        {
            to.U16(entry.Destination.Shard);
            to.Name(entry.Destination.Name);
            to.U64(entry.Count);
            to.U64(entry.Hash);
        }
        if (Answers == default) return;
        to.U64(Answers.Count);
        to.U64(Answers.Hash);
    }

    public static DigestRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var position = from.Lsn();
        var entries = new DigestEntry[from.Count(EntryBytesMin)];
        for (int i = 0; i < entries.Length; i++)
        {
            ushort shard = from.U16();
            entries[i] = new DigestEntry(new InstanceId(from.Name(), shard), from.U64(), from.U64());
        }
        AnswerDigest answers = default;
        if (from.Left > 0)
        {
            answers = new AnswerDigest(from.U64(), from.U64());
            if (answers.Count == 0) throw new ProtocolViolation("L5.10", "a digest of no answers, which is not written");
        }
        from.End();
        return new DigestRecord(position, entries) { Answers = answers };
    }

    /// <summary>Tells whether the outputs are the same, wherever the two digests stand.</summary>
    public bool HasOutputsOf(DigestRecord other) => Answers == other.Answers && Entries.SequenceEqual(other.Entries);

    public bool Equals(DigestRecord? other) => other is not null && Position == other.Position && HasOutputsOf(other);

    public override int GetHashCode() => Position.GetHashCode();
}

/// <summary>
/// States the app's outputs to one destination as of a position: how many numbered messages there are, and the channel hash after the
/// last one.
/// </summary>
public readonly record struct DigestEntry(InstanceId Destination, ulong Count, ulong Hash);

/// <summary>
/// States the app's answers to callers outside since the beginning of the log: how many there are, and the sum of their hashes. It is a sum
/// since the answers of two sessions stand in no order: a binding gathers them by session, and when it sends them is chance.
/// </summary>
public readonly record struct AnswerDigest(ulong Count, ulong Hash)
{
    private const int PrefixBytes = 8 + 8 + 1;

    /// <summary>Returns the digest after a run of answers, which was checked.</summary>
    public AnswerDigest After(in RunView run)
    {
        Span<byte> prefix = stackalloc byte[PrefixBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(prefix, run.Header.Hash);
        BinaryPrimitives.WriteUInt64LittleEndian(prefix[8..], run.Header.First);
        prefix[16] = (byte)run.Header.Kind;
        ulong before = ChannelHash.Append(0, prefix), sum = Hash;
        for (ReadOnlySpan<byte> left = run.Messages; left.Length > 0;)
        {
            int size = MessageScanner.Skip(left, 1);
            sum = unchecked(sum + ChannelHash.Append(before, left[..size]));
            left = left[size..];
        }
        return new AnswerDigest(Count + run.Header.Count, sum);
    }
}

/// <summary>
/// Holds the hash of the state that the primary had at a checkpoint's place (log-format L5.17), for whoever executes the log up to there
/// again, and for standbys.
/// </summary>
/// <param name="Place">Lsn of the checkpoint.</param>
/// <param name="Hash">CRC-64/NVME of the app's image there.</param>
public sealed record StateHashRecord(Lsn Place, ulong Hash) : IRecordBody<StateHashRecord>
{
    public static RecordKind Kind => RecordKind.StateHash;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Place.Value);
        to.U64(Hash);
    }

    public static StateHashRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new StateHashRecord(from.Lsn(), from.U64());
        from.End();
        return record;
    }
}
