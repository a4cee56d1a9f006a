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
