using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>
/// Holds the positions up to which outputs may be dropped. They are applied where the record stands in the log (log-format L5.6).
/// </summary>
public sealed record TrimRecord(IReadOnlyList<TrimPosition> Positions) : IRecordBody<TrimRecord>
{
    private const int PositionBytes = 12;

    public static RecordKind Kind => RecordKind.Trim;

    public void Write(ref PayloadWriter to)
    {
        to.Varint((ulong)Positions.Count);
        foreach (TrimPosition position in Positions)
        {
            to.U32(position.Origin);
            to.U64(position.Number);
        }
    }

    public static TrimRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var positions = new TrimPosition[from.Count(PositionBytes)];
        for (int i = 0; i < positions.Length; i++) positions[i] = new TrimPosition(from.U32(), from.U64());
        from.End();
        return new TrimRecord(positions);
    }

    public bool Equals(TrimRecord? other) => other is not null && Positions.SequenceEqual(other.Positions);

    public override int GetHashCode() => Positions.Count;
}
