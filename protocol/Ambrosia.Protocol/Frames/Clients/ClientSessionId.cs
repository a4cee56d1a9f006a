using System.Buffers.Binary;

namespace Ambrosia.Protocol;

/// <summary>
/// A caller's session (protocol P10.2): one connection, named by the coordinator that took it. No two are ever equal, since each start of
/// a coordinator has an epoch of its own; so an answer that replay makes again never reaches another's question.
/// </summary>
/// <param name="Epoch">Of the primary that took the connection.</param>
/// <param name="Number">Counts the connections of that epoch, from 1.</param>
public readonly record struct ClientSessionId(Epoch Epoch, ulong Number)
{
    public const int Bytes = 16;

    /// <summary>As it stands in log and frames: 16 bytes, the epoch first, both parts big-endian.</summary>
    public Guid ToUuid()
    {
        Span<byte> bytes = stackalloc byte[Bytes];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, Epoch.Value);
        BinaryPrimitives.WriteUInt64BigEndian(bytes[8..], Number);
        return new Guid(bytes, bigEndian: true);
    }

    public static ClientSessionId Of(Guid uuid)
    {
        Span<byte> bytes = stackalloc byte[Bytes];
        uuid.TryWriteBytes(bytes, bigEndian: true, out _);
        return new ClientSessionId(new Epoch(BinaryPrimitives.ReadUInt64BigEndian(bytes)),
            BinaryPrimitives.ReadUInt64BigEndian(bytes[8..]));
    }

    public override string ToString() => $"{Epoch}.{Number}";
}
