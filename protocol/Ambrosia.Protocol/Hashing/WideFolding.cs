using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Ambrosia.Protocol.Hashing;

/// <summary>
/// Folds a long stream into one 128-bit lane that has the same remainder, sixteen lanes at a time, where the processor multiplies four
/// lanes at once without carry. It works for any polynomial P of at most degree 64. It is immutable, so any thread may use it.
/// </summary>
/// <param name="powerOfX">
/// x to that power mod P, reflected: bit i of a word stands for x^(63-i). A lane moves n bits down the stream when its first word is
/// multiplied by x^(n+63) mod P and its second by x^(n-1) mod P.
/// </param>
internal sealed class WideFolding(Func<ulong, ulong> powerOfX)
{
    /// <summary>The length of an input is a multiple of this many bytes.</summary>
    public const int StepBytes = 4 * LanesBytes;

    private const int LanesBytes = 64;

    private readonly Vector128<ulong> _by128 = FactorsOf(powerOfX, 128);
    private readonly Vector512<ulong> _by512 = Four(FactorsOf(powerOfX, 512)), _by2048 = Four(FactorsOf(powerOfX, 2_048));

    public static bool IsSupported => Pclmulqdq.V512.IsSupported;

    /// <summary>Returns the lane behind a whole number of steps, at least one.</summary>
    /// <param name="state">The remainder of what stands before.</param>
    public Vector128<ulong> Fold(ulong state, ReadOnlySpan<byte> steps)
    {
        ref byte at = ref MemoryMarshal.GetReference(steps);
        Vector512<ulong> by2048 = _by2048, by512 = _by512;
        Vector512<ulong> a = Load(ref at, 0) ^ Vector512.CreateScalar(state), b = Load(ref at, 64), c = Load(ref at, 128),
            d = Load(ref at, 192);
        for (nuint done = StepBytes; done < (nuint)steps.Length; done += StepBytes)
        {
            a = Move(a, by2048) ^ Load(ref at, done);
            b = Move(b, by2048) ^ Load(ref at, done + 64);
            c = Move(c, by2048) ^ Load(ref at, done + 128);
            d = Move(d, by2048) ^ Load(ref at, done + 192);
        }
        d ^= Move(Move(Move(a, by512) ^ b, by512) ^ c, by512);
        Vector128<ulong> lane = d.GetLower().GetLower(), by128 = _by128;
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

    private static Vector512<ulong> Four(Vector128<ulong> lane) =>
        Vector512.Create(Vector256.Create(lane, lane), Vector256.Create(lane, lane));

    private static Vector128<ulong> FactorsOf(Func<ulong, ulong> powerOfX, ulong bits) =>
        Vector128.Create(powerOfX(bits + 63), powerOfX(bits - 1));
}
