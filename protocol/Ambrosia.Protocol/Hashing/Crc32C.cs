using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Ambrosia.Protocol.Hashing;

/// <summary>
/// Computes CRC-32C (protocol P1.8). Since <c>Append(Append(0, a), b) == Append(0, a ‖ b)</c>, a seed is the CRC of bytes in front.
/// The processor's instruction has a latency of three cycles and a throughput of one, so long inputs are read in three lanes side by side;
/// where the processor multiplies wide vectors without carry they are folded.
/// Source: RFC 3720 B.4; the check value of "123456789" is E3069283.
/// </summary>
public static class Crc32C
{
    /// <summary>Below this many bytes the instruction alone is as fast.</summary>
    private const int FoldBytesMin = 1_024;

    private const int LaneWords = 128, LanesWords = 3 * LaneWords;

    /// <summary>
    /// The table says what each byte of a state becomes behind a lane of zeros. The CRC is linear, so the four results add up to that of
    /// the whole state.
    /// </summary>
    private static readonly uint[] s_behindLane = MakeBehindLane();

    public static uint Append(uint crc, ReadOnlySpan<byte> bytes)
    {
        if (!WideFolding.IsSupported || bytes.Length < FoldBytesMin) return AppendByInstruction(crc, bytes);
        int folded = bytes.Length - bytes.Length % WideFolding.StepBytes;
        return AppendByInstruction(~Crc32CFolding.Append(~crc, bytes[..folded]), bytes[folded..]);
    }

    /// <summary>Does what <see cref="Append"/> does, with the processor's CRC instruction alone.</summary>
    internal static uint AppendByInstruction(uint crc, ReadOnlySpan<byte> bytes)
    {
        uint state = ~crc;
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(bytes);
        ReadOnlySpan<byte> rest = bytes[(words.Length * sizeof(ulong))..];
        for (; words.Length >= LanesWords; words = words[LanesWords..]) state = AppendLanes(state, words[..LanesWords]);
        foreach (ulong word in words) state = BitOperations.Crc32C(state, word);
        foreach (byte b in rest) state = BitOperations.Crc32C(state, b);
        return ~state;
    }

    public static uint Of(ReadOnlySpan<byte> bytes) => Append(0, bytes);

    private static uint AppendLanes(uint state, ReadOnlySpan<ulong> words)
    {
        ReadOnlySpan<ulong> first = words[..LaneWords], second = words.Slice(LaneWords, LaneWords),
            third = words.Slice(2 * LaneWords, LaneWords);
        uint a = state, b = 0, c = 0;
        for (int i = 0; i < LaneWords; i++)
        {
            a = BitOperations.Crc32C(a, first[i]);
            b = BitOperations.Crc32C(b, second[i]);
            c = BitOperations.Crc32C(c, third[i]);
        }
        return BehindLane(BehindLane(a) ^ b) ^ c;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint BehindLane(uint state)
    {
        uint[] table = s_behindLane;
        return table[state & 0xFF] ^ table[256 + ((state >> 8) & 0xFF)] ^ table[512 + ((state >> 16) & 0xFF)] ^ table[768 + (state >> 24)];
    }

    private static uint[] MakeBehindLane()
    {
        uint[] table = new uint[4 * 256];
        for (int i = 0; i < table.Length; i++)
        {
            uint state = (uint)(i & 0xFF) << (8 * (i >> 8));
            for (int word = 0; word < LaneWords; word++) state = BitOperations.Crc32C(state, 0UL);
            table[i] = state;
        }
        return table;
    }
}

/// <summary>
/// Computes CRC-32C of long inputs by <see cref="WideFolding"/>, twice as fast as the processor's CRC instruction. The lane that is left
/// has the same CRC as the whole input, and goes through that instruction.
/// </summary>
internal static class Crc32CFolding
{
    private static readonly WideFolding s_folding = new(PowerOfX);

    /// <summary>Returns the instruction's state (not inverted) behind a whole number of steps, at least one.</summary>
    public static uint Append(uint state, ReadOnlySpan<byte> steps)
    {
        Vector128<ulong> lane = s_folding.Fold(state, steps);
        return BitOperations.Crc32C(BitOperations.Crc32C(0, lane[0]), lane[1]);
    }

    /// <summary>Returns x to that power mod P. P has degree 32, so each remainder fills the upper half of its word.</summary>
    private static ulong PowerOfX(ulong exponent)
    {
        const uint polynomial = 0x82F6_3B78; // reflected, without x^32
        uint power = 0x8000_0000;            // 1
        for (ulong i = 0; i < exponent; i++) power = (power >> 1) ^ ((power & 1) * polynomial);
        return (ulong)power << 32;
    }
}
