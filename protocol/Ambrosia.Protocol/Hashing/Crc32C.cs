using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.Protocol;

/// <summary>
/// CRC-32C (protocol P1.8). <c>Append(Append(0, a), b) == Append(0, a ‖ b)</c>, so a seed is the CRC of bytes that stand in front.
/// The processor's instruction has a latency of three cycles and a throughput of one, so long inputs are read in three lanes side by side,
/// or folded where the processor multiplies wide vectors without carry.
/// Source: RFC 3720 B.4; check value of "123456789" is E3069283.
/// </summary>
public static class Crc32C
{
    /// <summary>Below this many bytes the instruction alone is as fast.</summary>
    private const int FoldBytesMin = 1_024;

    private const int LaneWords = 128, LanesWords = 3 * LaneWords;

    /// <summary>
    /// What each byte of a state becomes behind a lane of zeros: the CRC is linear, so these four add up to the whole state's.
    /// </summary>
    private static readonly uint[] s_behindLane = MakeBehindLane();

    public static uint Append(uint crc, ReadOnlySpan<byte> bytes)
    {
        if (!WideFolding.IsSupported || bytes.Length < FoldBytesMin) return AppendByInstruction(crc, bytes);
        int folded = bytes.Length - bytes.Length % WideFolding.StepBytes;
        return AppendByInstruction(~Crc32CFolding.Append(~crc, bytes[..folded]), bytes[folded..]);
    }

    /// <summary>The same without folding.</summary>
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
