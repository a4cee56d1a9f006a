using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>Introduces a peer of the instance, or states its new epoch (log-format L5.4).</summary>
/// <param name="Origin">Origin id of the peer in this log, from 1.</param>
/// <param name="Epoch">Highest epoch seen of the peer.</param>
public sealed record PeerRecord(uint Origin, InstanceId Peer, Guid Uuid, Epoch Epoch) : IRecordBody<PeerRecord>
{
    public static RecordKind Kind => RecordKind.Peer;

    public void Write(ref PayloadWriter to)
    {
        ArgumentOutOfRangeException.ThrowIfZero(Origin);
        to.U32(Origin);
        to.U16(Peer.Shard);
        to.Uuid(Uuid);
        to.U64(Epoch.Value);
        to.Name(Peer.Name);
    }

    public static PeerRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        uint origin = from.U32();
        if (origin == 0) throw from.Violation("L5.4", "peer with origin id 0, which is the instance itself");
        ushort shard = from.U16();
        Guid uuid = from.Uuid();
        var epoch = new Epoch(from.U64());
        var record = new PeerRecord(origin, new InstanceId(from.Name(), shard), uuid, epoch);
        from.End();
        return record;
    }
}

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

/// <summary>States that the outputs to a peer up to this number are durable there.</summary>
public readonly record struct TrimPosition(uint Origin, ulong Number);

/// <summary>
/// States that an operator has given up a peer for good (log-format L5.14). An instance that comes later under the same name is a new peer.
/// </summary>
/// <param name="Origin">Origin id of the peer in this log, from 1; no later record names it.</param>
/// <param name="Uuid">UUID of the instance, which is never accepted again.</param>
public sealed record ForgetRecord(uint Origin, Guid Uuid) : IRecordBody<ForgetRecord>
{
    public static RecordKind Kind => RecordKind.Forget;

    public void Write(ref PayloadWriter to)
    {
        ArgumentOutOfRangeException.ThrowIfZero(Origin);
        to.U32(Origin);
        to.Uuid(Uuid);
    }

    public static ForgetRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        uint origin = from.U32();
        if (origin == 0) throw from.Violation("L5.14", "the instance itself, origin 0, cannot be forgotten");
        var record = new ForgetRecord(origin, from.Uuid());
        from.End();
        return record;
    }
}
