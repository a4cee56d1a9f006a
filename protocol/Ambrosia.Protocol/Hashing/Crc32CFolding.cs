using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Ambrosia.Protocol;

/// <summary>
/// CRC-32C of long inputs by carry-less multiplication of sixteen 128-bit lanes at a time, where the processor multiplies four at once: twice as
/// fast as its CRC instruction. What is left of the lanes has the same CRC as all of the input, and goes through that instruction.
/// </summary>
internal static class Crc32CFolding
{
    /// <summary>Inputs are whole multiples of this many bytes.</summary>
    public const int StepBytes = 4 * LanesBytes;

    private const int LanesBytes = 64;

    // As in ChannelHash: a word holds its polynomial reflected, bit i for x^(63-i), and a lane moves n bits down the stream when its first word is
    // multiplied by x^(n+63) mod P and its second by x^(n-1) mod P. P has degree 32, so each remainder fills the upper half of its word.
    private static readonly Vector128<ulong> s_by128 = FactorsOf(128);
    private static readonly Vector512<ulong> s_by512 = Four(FactorsOf(512)), s_by2048 = Four(FactorsOf(2_048));

    public static bool IsSupported => Pclmulqdq.V512.IsSupported;

    /// <summary>The instruction's state (not inverted) behind a whole number of steps, at least one.</summary>
    public static uint Append(uint state, ReadOnlySpan<byte> steps)
    {
        ref byte at = ref MemoryMarshal.GetReference(steps);
        Vector512<ulong> by2048 = s_by2048, by512 = s_by512;
        Vector512<ulong> a = Load(ref at, 0) ^ Vector512.CreateScalar((ulong)state), b = Load(ref at, 64), c = Load(ref at, 128), d = Load(ref at, 192);
        for (nuint done = StepBytes; done < (nuint)steps.Length; done += StepBytes)
        {
            a = Move(a, by2048) ^ Load(ref at, done);
            b = Move(b, by2048) ^ Load(ref at, done + 64);
            c = Move(c, by2048) ^ Load(ref at, done + 128);
            d = Move(d, by2048) ^ Load(ref at, done + 192);
        }
        d ^= Move(Move(Move(a, by512) ^ b, by512) ^ c, by512);
        Vector128<ulong> lane = d.GetLower().GetLower(), by128 = s_by128;
        lane = Move(lane, by128) ^ d.GetLower().GetUpper();
        lane = Move(lane, by128) ^ d.GetUpper().GetLower();
        lane = Move(lane, by128) ^ d.GetUpper().GetUpper();
        return BitOperations.Crc32C(BitOperations.Crc32C(0, lane[0]), lane[1]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<ulong> Load(ref byte from, nuint offset) => Vector512.LoadUnsafe(ref from, offset).AsUInt64();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<ulong> Move(Vector512<ulong> lanes, Vector512<ulong> factors) =>
        Pclmulqdq.V512.CarrylessMultiply(lanes, factors, 0x00) ^ Pclmulqdq.V512.CarrylessMultiply(lanes, factors, 0x11);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Move(Vector128<ulong> lane, Vector128<ulong> factors) =>
        Pclmulqdq.CarrylessMultiply(lane, factors, 0x00) ^ Pclmulqdq.CarrylessMultiply(lane, factors, 0x11);

    private static Vector512<ulong> Four(Vector128<ulong> lane) => Vector512.Create(Vector256.Create(lane, lane), Vector256.Create(lane, lane));

    private static Vector128<ulong> FactorsOf(int bits) => Vector128.Create(PowerOf(bits + 63), PowerOf(bits - 1));

    /// <summary>x to the power of <paramref name="exponent"/>, mod P.</summary>
    private static ulong PowerOf(int exponent)
    {
        const uint polynomial = 0x82F6_3B78; // reflected, without x^32
        uint power = 0x8000_0000;            // 1
        for (int i = 0; i < exponent; i++) power = (power >> 1) ^ ((power & 1) * polynomial);
        return (ulong)power << 32;
    }
}
