using System.Buffers.Binary;
using System.Numerics;

namespace Ambrosia.TestKit;

/// <summary>
/// The only source of chance in tests: xoshiro256** seeded by SplitMix64, so a seed means the same run on every machine and runtime. It is
/// a <see cref="Random"/>, hence fits wherever randomness is passed in. One thread. Source: Blackman and Vigna, "Scrambled linear
/// pseudorandom number generators", 2021.
/// </summary>
public sealed class SimulatedRandom : Random
{
    private ulong _s0, _s1, _s2, _s3;

    public SimulatedRandom(ulong seed) : base(0)
    {
        ulong mix = seed;
        _s0 = SplitMix64(ref mix);
        _s1 = SplitMix64(ref mix);
        _s2 = SplitMix64(ref mix);
        _s3 = SplitMix64(ref mix);
    }

    /// <summary>64 random bits.</summary>
    public ulong NextUInt64()
    {
        ulong result = BitOperations.RotateLeft(_s1 * 5, 7) * 9;
        ulong shifted = _s1 << 17;
        _s2 ^= _s0;
        _s3 ^= _s1;
        _s1 ^= _s2;
        _s0 ^= _s3;
        _s2 ^= shifted;
        _s3 = BitOperations.RotateLeft(_s3, 45);
        return result;
    }

    /// <summary>A fold of the state: equal for two that have drawn the same numbers from the same seed, so far.</summary>
    public ulong Position => _s0 ^ BitOperations.RotateLeft(_s1, 13) ^ BitOperations.RotateLeft(_s2, 29) ^ BitOperations.RotateLeft(_s3, 47);

    /// <summary>A stream of its own, so that one part's draws do not shift another's.</summary>
    public SimulatedRandom Split() => new(NextUInt64());

    /// <summary>True in <paramref name="percent"/> of a hundred.</summary>
    public bool Chance(int percent) => Next(100) < percent;

    /// <summary>One of the items.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is none.</exception>
    public T Pick<T>(IReadOnlyList<T> items)
    {
        ArgumentOutOfRangeException.ThrowIfZero(items.Count);
        return items[Next(items.Count)];
    }

    public override int Next() => (int)NextInt64(int.MaxValue);

    public override int Next(int maxValue) => (int)NextInt64(maxValue);

    public override int Next(int minValue, int maxValue) => (int)NextInt64(minValue, maxValue);

    public override long NextInt64() => NextInt64(long.MaxValue);

    public override long NextInt64(long maxValue) => NextInt64(0, maxValue);

    public override long NextInt64(long minValue, long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        ulong range = (ulong)(maxValue - minValue);
        // The high half of a 128-bit product is uniform up to a bias of range / 2^64: nothing for a test.
        return range == 0 ? minValue : minValue + (long)Math.BigMul(NextUInt64(), range, out _);
    }

    public override double NextDouble() => (NextUInt64() >> 11) * (1.0 / (1UL << 53));

    public override float NextSingle() => (NextUInt64() >> 40) * (1.0f / (1U << 24));

    public override void NextBytes(byte[] buffer) => NextBytes(buffer.AsSpan());

    public override void NextBytes(Span<byte> buffer)
    {
        while (buffer.Length >= sizeof(ulong))
        {
            BinaryPrimitives.WriteUInt64LittleEndian(buffer, NextUInt64());
            buffer = buffer[sizeof(ulong)..];
        }

        ulong rest = buffer.IsEmpty ? 0 : NextUInt64();
        for (int i = 0; i < buffer.Length; i++) buffer[i] = (byte)(rest >> (8 * i));
    }

    protected override double Sample() => NextDouble();

    private static ulong SplitMix64(ref ulong state)
    {
        state += 0x9E3779B97F4A7C15;
        ulong z = state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
