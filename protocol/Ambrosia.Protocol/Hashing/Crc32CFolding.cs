using System.Numerics;
using System.Runtime.Intrinsics;

namespace Ambrosia.Protocol;

/// <summary>
/// CRC-32C of long inputs by <see cref="WideFolding"/>: twice as fast as the processor's CRC instruction. What is left of the lanes has the
/// same CRC as all of the input, and goes through that instruction.
/// </summary>
internal static class Crc32CFolding
{
    private static readonly WideFolding s_folding = new(PowerOfX);

    /// <summary>The instruction's state (not inverted) behind a whole number of steps, at least one.</summary>
    public static uint Append(uint state, ReadOnlySpan<byte> steps)
    {
        Vector128<ulong> lane = s_folding.Fold(state, steps);
        return BitOperations.Crc32C(BitOperations.Crc32C(0, lane[0]), lane[1]);
    }

    /// <summary>P has degree 32, so each remainder fills the upper half of its word.</summary>
    private static ulong PowerOfX(ulong exponent)
    {
        const uint polynomial = 0x82F6_3B78; // reflected, without x^32
        uint power = 0x8000_0000;            // 1
        for (ulong i = 0; i < exponent; i++) power = (power >> 1) ^ ((power & 1) * polynomial);
        return (ulong)power << 32;
    }
}
