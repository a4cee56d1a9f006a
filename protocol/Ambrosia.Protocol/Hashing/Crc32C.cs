using System.Numerics;
using System.Runtime.InteropServices;

namespace Ambrosia.Protocol;

/// <summary>
/// CRC-32C (protocol P1.8). <c>Append(Append(0, a), b) == Append(0, a ‖ b)</c>, so a seed is the CRC of bytes that stand in front.
/// Source: RFC 3720 B.4; check value of "123456789" is E3069283.
/// </summary>
public static class Crc32C
{
    public static uint Append(uint crc, ReadOnlySpan<byte> bytes)
    {
        uint state = ~crc;
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(bytes);
        foreach (ulong word in words) state = BitOperations.Crc32C(state, word);
        foreach (byte b in bytes[(words.Length * 8)..]) state = BitOperations.Crc32C(state, b);
        return ~state;
    }

    public static uint Of(ReadOnlySpan<byte> bytes) => Append(0, bytes);
}
