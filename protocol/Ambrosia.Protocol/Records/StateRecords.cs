using Ambrosia.Protocol.Payloads;

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
/// States the app's outputs as of a position, for each destination that changed since the digest before (log-format L5.7).
/// </summary>
public sealed record DigestRecord(Lsn Position, IReadOnlyList<DigestEntry> Entries) : IRecordBody<DigestRecord>
{
    private const int EntryBytesMin = 2 + 2 + 8 + 8;

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
        from.End();
        return new DigestRecord(position, entries);
    }

    public bool Equals(DigestRecord? other) => other is not null && Position == other.Position && Entries.SequenceEqual(other.Entries);

    public override int GetHashCode() => Position.GetHashCode();
}

/// <summary>
/// States the app's outputs to one destination as of a position: how many numbered messages there are, and the channel hash after the
/// last one.
/// </summary>
public readonly record struct DigestEntry(InstanceId Destination, ulong Count, ulong Hash);
