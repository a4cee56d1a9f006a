using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

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
