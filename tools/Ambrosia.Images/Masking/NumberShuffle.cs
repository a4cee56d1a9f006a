using System.Buffers.Binary;
using System.Numerics;
using System.Security.Cryptography;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Gives each number of a range another one of the same range, by a secret key: equal numbers stay equal, different ones different, and
/// none stays what it was unless it is alone. It is one cycle through the range, so whoever lacks the key learns nothing but the range.
/// One thread.
/// </summary>
internal sealed class NumberShuffle : IDisposable
{
    /// <summary>The rounds of the permutation; four make one that nobody tells from chance, the rest is for small ranges.</summary>
    private const int Rounds = 8;

    private const int BlockBytes = 16;

    private readonly Aes _aes = Aes.Create();

    /// <param name="key">16 bytes, which nobody keeps.</param>
    internal NumberShuffle(byte[] key) => _aes.Key = key;

    /// <summary>Returns the number that stands for another one.</summary>
    /// <param name="low">The first number of the range; the value is in it.</param>
    /// <param name="high">The last one.</param>
    internal ulong Of(ulong value, ulong low, ulong high)
    {
        ulong count = high - low; // less 1, as the whole range of 64 bits would not fit
        if (count == 0) return value;
        ulong place = Permute(value - low, low, count, isBack: false);
        return low + Permute(place == count ? 0 : place + 1, low, count, isBack: true);
    }

    public void Dispose() => _aes.Dispose();

    /// <summary>Permutes the numbers from 0 to the last, by those of the next even number of bits: what falls outside goes on.</summary>
    private ulong Permute(ulong value, ulong tweak, ulong last, bool isBack)
    {
        int half = Math.Max(1, (64 - BitOperations.LeadingZeroCount(last) + 1) / 2);
        do value = isBack ? Back(value, tweak, last, half) : Forth(value, tweak, last, half);
        while (value > last);
        return value;
    }

    private ulong Forth(ulong value, ulong tweak, ulong last, int half)
    {
        ulong mask = (1UL << half) - 1, left = value >> half, right = value & mask;
        for (int round = 0; round < Rounds; round++) (left, right) = (right, left ^ (Mixed(round, right, tweak, last) & mask));
        return (left << half) | right;
    }

    private ulong Back(ulong value, ulong tweak, ulong last, int half)
    {
        ulong mask = (1UL << half) - 1, left = value >> half, right = value & mask;
        for (int round = Rounds - 1; round >= 0; round--) (left, right) = (right ^ (Mixed(round, left, tweak, last) & mask), left);
        return (left << half) | right;
    }

    private ulong Mixed(int round, ulong value, ulong tweak, ulong last)
    {
        Span<byte> block = stackalloc byte[BlockBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(block, value ^ BitOperations.RotateLeft(last, 32));
        BinaryPrimitives.WriteUInt64LittleEndian(block[8..], tweak + ((ulong)(uint)round << 56));
        _aes.EncryptEcb(block, block, PaddingMode.None);
        return BinaryPrimitives.ReadUInt64LittleEndian(block);
    }
}
