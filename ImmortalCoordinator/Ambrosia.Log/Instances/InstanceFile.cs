using System.Buffers.Binary;
using System.Text;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>The bytes of the file <c>instance</c> (log-format L1.2).</summary>
internal static class InstanceFile
{
    public const int BytesMax = FixedBytes + 1 + Names.CharsMax + 4;

    private const ushort Format = 1;
    private const int FixedBytes = 8 + 2 + 2 + 16 + 8;

    private static ReadOnlySpan<byte> Magic => "AMBRINST"u8;

    public static byte[] Write(InstanceIdentity identity)
    {
        byte[] name = Encoding.ASCII.GetBytes(identity.Name);
        byte[] to = new byte[FixedBytes + 1 + name.Length + 4];
        Magic.CopyTo(to);
        BinaryPrimitives.WriteUInt16LittleEndian(to.AsSpan(8), Format);
        BinaryPrimitives.WriteUInt16LittleEndian(to.AsSpan(10), identity.Shard);
        identity.Uuid.TryWriteBytes(to.AsSpan(12), bigEndian: true, out _);
        BinaryPrimitives.WriteInt64LittleEndian(to.AsSpan(28), identity.CreatedMicros);
        to[FixedBytes] = (byte)name.Length;
        name.CopyTo(to.AsSpan(FixedBytes + 1));
        BinaryPrimitives.WriteUInt32LittleEndian(to.AsSpan(to.Length - 4), Crc32C.Of(to.AsSpan(0, to.Length - 4)));
        return to;
    }

    /// <exception cref="LogDamage">Wrong in any way.</exception>
    public static InstanceIdentity Read(ReadOnlySpan<byte> from, string file)
    {
        if (from.Length is < FixedBytes + 6 or > BytesMax)
            throw new LogDamage(file, 0, null, $"{FixedBytes + 6} to {BytesMax} bytes", $"{from.Length}");
        uint crc = Crc32C.Of(from[..^4]), stated = BinaryPrimitives.ReadUInt32LittleEndian(from[^4..]);
        if (crc != stated) throw new LogDamage(file, from.Length - 4, null, $"CRC 0x{crc:X8}", $"0x{stated:X8}");
        if (!from.StartsWith(Magic)) throw new LogDamage(file, 0, null, "AMBRINST", Convert.ToHexString(from[..8]));
        ushort format = BinaryPrimitives.ReadUInt16LittleEndian(from[8..]);
        if (format != Format) throw new LogDamage(file, 8, null, $"format {Format}", $"{format}: written by a newer version");
        string name = Encoding.ASCII.GetString(from[(FixedBytes + 1)..^4]);
        if (from[FixedBytes] != name.Length || !Names.IsValid(name))
            throw new LogDamage(file, FixedBytes, null, "an instance's name", $"'{name}' with length {from[FixedBytes]}");
        return new InstanceIdentity(
            name, BinaryPrimitives.ReadUInt16LittleEndian(from[10..]),
            new Guid(from.Slice(12, 16), bigEndian: true), BinaryPrimitives.ReadInt64LittleEndian(from[28..]));
    }
}
