using System.Buffers.Binary;
using System.Globalization;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>Names a build of an app: a hash over what it executes, the same wherever and whenever it is built (log-format L5.16).</summary>
public readonly record struct BuildId(UInt128 Hash)
{
    public const int Bytes = 16;

    /// <summary>Writes a build as bytes of a variable length: none when it is not known.</summary>
    internal static void Write(ref PayloadWriter to, BuildId? build)
    {
        Span<byte> bytes = stackalloc byte[Bytes];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, build?.Hash ?? 0);
        to.Bytes(build is null ? [] : bytes, Bytes);
    }

    /// <exception cref="ProtocolViolation">Neither none nor all bytes.</exception>
    internal static BuildId? Read(ref PayloadReader from, string section)
    {
        ReadOnlySpan<byte> bytes = from.Bytes(Bytes);
        return bytes.Length switch
        {
            0 => null,
            Bytes => new BuildId(BinaryPrimitives.ReadUInt128BigEndian(bytes)),
            _ => throw from.Violation(section, $"a build of {bytes.Length} bytes instead of {Bytes}"),
        };
    }

    public override string ToString() => Hash.ToString("x32", CultureInfo.InvariantCulture);
}
