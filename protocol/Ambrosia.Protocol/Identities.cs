using System.Buffers.Binary;

namespace Ambrosia.Protocol;

/// <summary>
/// The identity of one end of a channel: an instance's name and a shard of it. The shard is part of every identity although today it is
/// always 0, so that sharding needs no change of the format.
/// </summary>
public readonly record struct InstanceId(string Name, ushort Shard = 0) : IComparable<InstanceId>
{
    public int CompareTo(InstanceId other)
    {
        int byName = string.CompareOrdinal(Name, other.Name);
        return byName != 0 ? byName : Shard.CompareTo(other.Shard);
    }

    public override string ToString() => Shard == 0 ? Name : $"{Name}/{Shard}";
}

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

/// <summary>
/// Knows the grammar of instance and replica names (protocol P1.5), which keeps every name usable as a file name and in a certificate.
/// </summary>
public static class Names
{
    public const int CharsMax = 63;

    public static bool IsValid(ReadOnlySpan<char> name)
    {
        if (name.Length is 0 or > CharsMax || !char.IsAsciiLetterOrDigit(name[0])) return false;
        foreach (char c in name)
            if (!char.IsAsciiLetterOrDigit(c) && c is not ('_' or '-')) return false;
        return true;
    }
}
