using System.Buffers.Binary;
using System.Globalization;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>Names a build of an app: a hash over what it executes, the same wherever and whenever it is built (log-format L5.16).</summary>
public readonly record struct BuildId(UInt128 Hash)
{
    public const int Bytes = 16;

    /// <summary>A build is named by so many digits at least.</summary>
    public const int DigitsMin = 8;

    /// <summary>The first digits, by which people tell a build from others.</summary>
    public string Short => ToString()[..DigitsMin];

    /// <summary>Writes a build as bytes of a variable length: none when it is not known.</summary>
    public static void Write(ref PayloadWriter to, BuildId? build)
    {
        to.Bytes(build is { } known ? known.ToBytes() : [], Bytes);
    }

    /// <exception cref="ProtocolViolation">Neither none nor all bytes.</exception>
    public static BuildId? Read(ref PayloadReader from, string section)
    {
        ReadOnlySpan<byte> bytes = from.Bytes(Bytes);
        return bytes.Length is 0 or Bytes ? Of(bytes)
            : throw from.Violation(section, $"a build of {bytes.Length} bytes instead of {Bytes}");
    }

    /// <summary>Reads a build that is known.</summary>
    /// <returns>Null where the bytes are not as many as a build has.</returns>
    public static BuildId? Of(ReadOnlySpan<byte> bytes) =>
        bytes.Length == Bytes ? new BuildId(BinaryPrimitives.ReadUInt128BigEndian(bytes)) : null;

    public byte[] ToBytes()
    {
        var bytes = new byte[Bytes];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, Hash);
        return bytes;
    }

    public override string ToString() => Hash.ToString("x32", CultureInfo.InvariantCulture);
}
