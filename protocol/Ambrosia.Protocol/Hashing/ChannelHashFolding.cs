using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Ambrosia.Protocol;

/// <summary>
/// CRC-64/NVME of long inputs: sixteen 128-bit lanes at a time, where the processor multiplies four at once. Words and factors are those of
/// <see cref="ChannelHash"/>; what comes out is one lane that stands for all of the input.
/// </summary>
internal static class ChannelHashFolding
{
    /// <summary>Inputs are whole multiples of this many bytes.</summary>
    public const int StepBytes = 4 * LanesBytes;

    private const int LanesBytes = 64;

    private static readonly Vector128<ulong> s_by128 = FactorsOf(128);
    private static readonly Vector512<ulong> s_by512 = Four(FactorsOf(512)), s_by2048 = Four(FactorsOf(2_048));

    public static bool IsSupported => Pclmulqdq.V512.IsSupported;

    /// <summary>The lane behind a whole number of steps, at least one.</summary>
    /// <param name="state">Its first word is the state before; its second is zero.</param>
    public static Vector128<ulong> Fold(Vector128<ulong> state, ReadOnlySpan<byte> steps)
    {
        ref byte at = ref MemoryMarshal.GetReference(steps);
        Vector512<ulong> by2048 = s_by2048, by512 = s_by512;
        Vector512<ulong> a = Load(ref at, 0) ^ Vector512.CreateScalar(state[0]), b = Load(ref at, 64), c = Load(ref at, 128), d = Load(ref at, 192);
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
        return Move(lane, by128) ^ d.GetUpper().GetUpper();
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

    private static Vector128<ulong> FactorsOf(ulong bits) => Vector128.Create(ChannelHashAlgebra.PowerOfX(bits + 63), ChannelHashAlgebra.PowerOfX(bits - 1));
}
