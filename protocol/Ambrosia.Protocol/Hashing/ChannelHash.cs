using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Ambrosia.Protocol;

/// <summary>
/// CRC-64/NVME (protocol P1.9), the hash of channels, pages and images. Its state is its value: <c>Append(Append(0, a), b) == Append(0, a ‖ b)</c>.
/// Polynomial AD93D23594C93659, reflected; check value of "123456789" is AE8B14860A799888. Source: NVM Express NVM Command Set 1.0 §5.2.1.3.
/// Carry-less multiplication folds four 128-bit lanes at a time where the processor has it; tables do the same elsewhere.
/// </summary>
public static class ChannelHash
{
    // A register holds its polynomial reflected: bit i of a 64-bit word stands for x^(63-i). Each pair is (x^(n+63) mod P, x^(n-1) mod P),
    // reflected: what the first and the second word of a lane are multiplied by to move the lane n bits further down the stream.
    private const ulong By512First = 0x0C32CDB31E18A84A, By512Second = 0x62242240ACE5045A;
    private const ulong By128First = 0xEADC41FD2BA3D420, By128Second = 0x21E9761E252621AC;

    // Barrett reduction: x^128 / P and P, 65 bits each, reflected, without their highest bit.
    private const ulong Quotient = 0x27ECFA329AEF9F77, Polynomial = 0x34D926535897936B;

    /// <summary>Below this many bytes folding does not pay for its set-up.</summary>
    private const int FoldBytesMin = 128;

    /// <summary>The hash of what <paramref name="hash"/> stands for followed by <paramref name="bytes"/>; the hash of nothing is 0.</summary>
    public static ulong Append(ulong hash, ReadOnlySpan<byte> bytes) =>
        Pclmulqdq.IsSupported ? AppendFolding(hash, bytes) : ChannelHashTables.Append(hash, bytes);

    private static ulong AppendFolding(ulong hash, ReadOnlySpan<byte> bytes)
    {
        ulong state = ~hash;
        if (bytes.Length >= FoldBytesMin)
        {
            int folded = bytes.Length & ~15;
            state = Fold(state, bytes[..folded]);
            bytes = bytes[folded..];
        }
        while (bytes.Length >= 8)
        {
            state = Reduce(state ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            bytes = bytes[8..];
        }
        return ~(bytes.Length == 0 ? state : AppendTail(state, bytes));
    }

    /// <summary>One to seven bytes: zeros in front of a stream whose state is 0 change nothing, so they fill the word.</summary>
    private static ulong AppendTail(ulong state, ReadOnlySpan<byte> bytes)
    {
        int bits = bytes.Length * 8;
        ulong word = state;
        for (int i = 0; i < bytes.Length; i++) word ^= (ulong)bytes[i] << (8 * i);
        return (word >> bits) ^ Reduce(word << (64 - bits));
    }

    /// <summary>State after a whole number of 16-byte blocks, at least 64 bytes of them.</summary>
    private static ulong Fold(ulong state, ReadOnlySpan<byte> blocks)
    {
        ref byte at = ref MemoryMarshal.GetReference(blocks);
        nuint left = (nuint)blocks.Length;
        Vector128<ulong> a = Load(ref at, 0) ^ Vector128.CreateScalar(state);
        Vector128<ulong> b = Load(ref at, 16), c = Load(ref at, 32), d = Load(ref at, 48);
        at = ref Unsafe.Add(ref at, 64);
        left -= 64;

        Vector128<ulong> by512 = Vector128.Create(By512First, By512Second);
        for (; left >= 64; left -= 64)
        {
            a = Move(a, by512) ^ Load(ref at, 0);
            b = Move(b, by512) ^ Load(ref at, 16);
            c = Move(c, by512) ^ Load(ref at, 32);
            d = Move(d, by512) ^ Load(ref at, 48);
            at = ref Unsafe.Add(ref at, 64);
        }

        Vector128<ulong> by128 = Vector128.Create(By128First, By128Second);
        a = Move(Move(Move(a, by128) ^ b, by128) ^ c, by128) ^ d;
        for (; left >= 16; left -= 16)
        {
            a = Move(a, by128) ^ Load(ref at, 0);
            at = ref Unsafe.Add(ref at, 16);
        }
        return Reduce(Reduce(a[0]) ^ a[1]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Load(ref byte from, nuint offset) => Vector128.LoadUnsafe(ref from, offset).AsUInt64();

    /// <summary>The lane times a power of x, modulo P.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Move(Vector128<ulong> lane, Vector128<ulong> factors) =>
        Pclmulqdq.CarrylessMultiply(lane, factors, 0x00) ^ Pclmulqdq.CarrylessMultiply(lane, factors, 0x11);

    /// <summary>word · x^64 mod P: the state after eight bytes that were mixed into the state before.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Reduce(ulong word)
    {
        Vector128<ulong> factors = Vector128.Create(Quotient, Polynomial);
        Vector128<ulong> quotient = Pclmulqdq.CarrylessMultiply(Vector128.CreateScalar(word), factors, 0x00);
        return Pclmulqdq.CarrylessMultiply(quotient, factors, 0x10)[1] ^ quotient[0];
    }
}
