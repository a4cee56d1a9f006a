using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Ambrosia.Protocol.Hashing;

/// <summary>
/// Computes CRC-64/NVME (protocol P1.9), the hash of channels, pages and images. The state is the value, so
/// <c>Append(Append(0, a), b) == Append(0, a ‖ b)</c>. The polynomial is AD93D23594C93659, reflected; the check value of "123456789" is
/// AE8B14860A799888. Source: NVM Express NVM Command Set 1.0 §5.2.1.3. Where the processor multiplies without carry, four 128-bit lanes
/// are folded at a time, and sixteen of long inputs where it does so on wide vectors. Elsewhere tables give the same result.
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
    private const int FoldBytesMin = 32;

    /// <summary>From this many bytes on sixteen lanes are faster than four.</summary>
    private const int WideBytesMin = 1_024;

    private static readonly WideFolding s_wide = new(ChannelHashAlgebra.PowerOfX);

    /// <summary>
    /// Returns the hash of what <paramref name="hash"/> stands for, followed by <paramref name="bytes"/>. The hash of nothing is 0.
    /// </summary>
    public static ulong Append(ulong hash, ReadOnlySpan<byte> bytes) =>
        Pclmulqdq.IsSupported ? AppendFolding(hash, bytes) : ChannelHashTables.Append(hash, bytes);

    /// <summary>
    /// Returns the hash of what <paramref name="first"/> stands for, followed by <paramref name="length"/> bytes whose hash is
    /// <paramref name="second"/>.
    /// </summary>
    public static ulong Combine(ulong first, ulong second, ulong length) =>
        ChannelHashAlgebra.Multiply(first, ChannelHashAlgebra.PowerOfX(checked(length * 8))) ^ second;

    private static ulong AppendFolding(ulong hash, ReadOnlySpan<byte> bytes)
    {
        Vector128<ulong> state = Vector128.CreateScalar(~hash);
        int done = 0;
        if (bytes.Length >= FoldBytesMin)
        {
            done = bytes.Length & ~15;
            state = Fold(state, bytes[..done]);
        }
        for (; done + 8 <= bytes.Length; done += 8)
            state = Reduce(state ^ Vector128.CreateScalar(BinaryPrimitives.ReadUInt64LittleEndian(bytes[done..])));
        return ~(done == bytes.Length ? state[0] : AppendTail(state[0], bytes, bytes.Length - done));
    }

    /// <summary>
    /// Appends the last one to seven bytes. Zeros in front of a stream whose state is 0 change nothing, so zeros fill the word.
    /// </summary>
    private static ulong AppendTail(ulong state, ReadOnlySpan<byte> bytes, int count)
    {
        int bits = count * 8;
        ulong tail = 0;
        if (bytes.Length >= 8) tail = BinaryPrimitives.ReadUInt64LittleEndian(bytes[^8..]) >> (64 - bits);
        else for (int i = 0; i < count; i++) tail |= (ulong)bytes[i] << (8 * i);
        ulong word = state ^ tail;
        return (word >> bits) ^ Reduce(Vector128.CreateScalar(word << (64 - bits)))[0];
    }

    /// <summary>Returns the state after a whole number of 16-byte blocks, at least one.</summary>
    private static Vector128<ulong> Fold(Vector128<ulong> state, ReadOnlySpan<byte> blocks)
    {
        ref byte at = ref MemoryMarshal.GetReference(blocks);
        nuint left = (nuint)blocks.Length;
        Vector128<ulong> by128 = Vector128.Create(By128First, By128Second);
        Vector128<ulong> a = Load(ref at, 0) ^ state; // whose second word is zero
        nuint done = 16;
        if (left >= WideBytesMin && WideFolding.IsSupported)
        {
            done = left - left % WideFolding.StepBytes;
            a = s_wide.Fold(state[0], blocks[..(int)done]);
        }
        else if (left >= 128)
        {
            Vector128<ulong> b = Load(ref at, 16), c = Load(ref at, 32), d = Load(ref at, 48);
            Vector128<ulong> by512 = Vector128.Create(By512First, By512Second);
            for (done = 64; done + 64 <= left; done += 64)
            {
                a = Move(a, by512) ^ Load(ref at, done);
                b = Move(b, by512) ^ Load(ref at, done + 16);
                c = Move(c, by512) ^ Load(ref at, done + 32);
                d = Move(d, by512) ^ Load(ref at, done + 48);
            }
            a = Move(Move(Move(a, by128) ^ b, by128) ^ c, by128) ^ d;
        }
        for (; done < left; done += 16) a = Move(a, by128) ^ Load(ref at, done);
        return Reduce(Reduce(a) ^ Vector128.CreateScalar(a[1]));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Load(ref byte from, nuint offset) => Vector128.LoadUnsafe(ref from, offset).AsUInt64();

    /// <summary>Multiplies the lane by a power of x, modulo P.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Move(Vector128<ulong> lane, Vector128<ulong> factors) =>
        Pclmulqdq.CarrylessMultiply(lane, factors, 0x00) ^ Pclmulqdq.CarrylessMultiply(lane, factors, 0x11);

    /// <summary>
    /// Computes the first word · x^64 mod P, which is the state after eight bytes that were mixed into the state before. Only the first
    /// word of the input counts, and the second word of the result means nothing. The state stays in vector registers, where this chain
    /// of instructions is shortest.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Reduce(Vector128<ulong> word)
    {
        Vector128<ulong> factors = Vector128.Create(Quotient, Polynomial);
        Vector128<ulong> quotient = Pclmulqdq.CarrylessMultiply(word, factors, 0x00);
        Vector128<ulong> product = Pclmulqdq.CarrylessMultiply(quotient, factors, 0x10);
        return Sse2.ShiftRightLogical128BitLane(product, 8) ^ quotient;
    }
}

/// <summary>
/// Computes <see cref="ChannelHash"/> where the processor has no carry-less multiplication: by eight tables, eight bytes a step.
/// Entry i of table k is the state after byte i and k zero bytes.
/// </summary>
internal static class ChannelHashTables
{
    private static readonly ulong[] s_tables = Make();

    public static ulong Append(ulong hash, ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<ulong> tables = s_tables;
        ulong state = ~hash;
        for (; bytes.Length >= 8; bytes = bytes[8..])
        {
            ulong word = state ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes);
            state = tables[(7 << 8) | (byte)word]
                ^ tables[(6 << 8) | (byte)(word >> 8)]
                ^ tables[(5 << 8) | (byte)(word >> 16)]
                ^ tables[(4 << 8) | (byte)(word >> 24)]
                ^ tables[(3 << 8) | (byte)(word >> 32)]
                ^ tables[(2 << 8) | (byte)(word >> 40)]
                ^ tables[(1 << 8) | (byte)(word >> 48)]
                ^ tables[(byte)(word >> 56)];
        }
        foreach (byte b in bytes) state = (state >> 8) ^ tables[(byte)state ^ b];
        return ~state;
    }

    private static ulong[] Make()
    {
        var tables = new ulong[8 * 256];
        for (int i = 0; i < 256; i++)
        {
            ulong state = (ulong)i;
            for (int bit = 0; bit < 8; bit++) state = ChannelHashAlgebra.TimesX(state);
            tables[i] = state;
        }
        for (int i = 256; i < tables.Length; i++)
            tables[i] = (tables[i - 256] >> 8) ^ tables[(byte)tables[i - 256]];
        return tables;
    }
}

/// <summary>Multiplies polynomials modulo that of CRC-64/NVME. They are reflected: bit i of a word stands for x^(63-i).</summary>
internal static class ChannelHashAlgebra
{
    public const ulong ReflectedPolynomial = 0x9A6C9329AC4BC9B5;

    private const ulong One = 1ul << 63, X = 1ul << 62;

    public static ulong Multiply(ulong a, ulong b)
    {
        ulong product = 0;
        for (; a != 0; a <<= 1, b = TimesX(b))
            if ((a & One) != 0) product ^= b;
        return product;
    }

    public static ulong TimesX(ulong a) => (a >> 1) ^ ((a & 1) * ReflectedPolynomial);

    public static ulong PowerOfX(ulong exponent)
    {
        ulong power = One;
        for (ulong square = X; exponent != 0; exponent >>= 1, square = Multiply(square, square))
            if ((exponent & 1) != 0) power = Multiply(power, square);
        return power;
    }
}
