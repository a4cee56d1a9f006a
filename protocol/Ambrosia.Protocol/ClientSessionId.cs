using System.Buffers.Binary;

namespace Ambrosia.Protocol;

/// <summary>
/// A client's session (protocol P10.2) is one connection, named by the coordinator that accepted it. No two sessions are ever equal, since
/// each start of a coordinator has an epoch of its own. So an answer that replay produces again never reaches another client's question.
/// </summary>
/// <param name="Epoch">Epoch of the primary that accepted the connection.</param>
/// <param name="Number">Number of the connection among those of that epoch, from 1.</param>
public readonly record struct ClientSessionId(Epoch Epoch, ulong Number)
{
    public const int Bytes = 16;

    /// <summary>Encodes the id as log and frames hold it: 16 bytes, the epoch first, both parts big-endian.</summary>
    public Guid ToUuid()
    {
        Span<byte> bytes = stackalloc byte[Bytes];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, Epoch.Value);
        BinaryPrimitives.WriteUInt64BigEndian(bytes[8..], Number);
        return new Guid(bytes, bigEndian: true);
    }

    /// <summary>Decodes what <see cref="ToUuid"/> encodes.</summary>
    public static ClientSessionId Of(Guid uuid)
    {
        Span<byte> bytes = stackalloc byte[Bytes];
        uuid.TryWriteBytes(bytes, bigEndian: true, out _);
        return new ClientSessionId(new Epoch(BinaryPrimitives.ReadUInt64BigEndian(bytes)),
            BinaryPrimitives.ReadUInt64BigEndian(bytes[8..]));
    }

    public override string ToString() => $"{Epoch}.{Number}";
}
