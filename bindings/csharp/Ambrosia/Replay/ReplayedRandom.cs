using System.Buffers.Binary;
using System.Numerics;
using Ambrosia.Calls;
using Ambrosia.Replay;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// Makes random numbers that every version of the binding makes alike: xoshiro256**, whose four words are its whole state. It defines
/// everything that System.Random leaves to its subclass, so that no version of the runtime changes a sequence. Thread: one that executes
/// handlers. Invariant: the words are never all zero.
/// </summary>
[ImageShape(typeof(RandomShape))]
internal sealed class ReplayedRandom : Random
{
    private ulong _a, _b, _c, _d;

#pragma warning disable RS0030 // nothing is drawn from the base class
    internal ReplayedRandom(ulong a, ulong b, ulong c, ulong d)
        : base(0)
#pragma warning restore RS0030
    {
        if ((a | b | c | d) == 0) throw new ArgumentException("a random state of zeros");
        (_a, _b, _c, _d) = (a, b, c, d);
    }

    internal (ulong A, ulong B, ulong C, ulong D) State => (_a, _b, _c, _d);

    /// <param name="seed">32 bytes of a hash.</param>
    internal static ReplayedRandom Seeded(ReadOnlySpan<byte> seed) => new(
        BinaryPrimitives.ReadUInt64LittleEndian(seed), BinaryPrimitives.ReadUInt64LittleEndian(seed[8..]),
        BinaryPrimitives.ReadUInt64LittleEndian(seed[16..]), BinaryPrimitives.ReadUInt64LittleEndian(seed[24..]));

    public override int Next() => (int)Below(int.MaxValue);

    public override int Next(int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxValue);
        return (int)Below((ulong)maxValue);
    }

    public override int Next(int minValue, int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return (int)(minValue + (long)Below((ulong)((long)maxValue - minValue)));
    }

    public override long NextInt64() => (long)Below(long.MaxValue);

    public override long NextInt64(long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxValue);
        return (long)Below((ulong)maxValue);
    }

    public override long NextInt64(long minValue, long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return unchecked(minValue + (long)Below((ulong)maxValue - (ulong)minValue));
    }

    public override double NextDouble() => (Draw() >> 11) * (1.0 / (1UL << 53));

    public override float NextSingle() => (Draw() >> 40) * (1.0f / (1U << 24));

    public override void NextBytes(byte[] buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        NextBytes(buffer.AsSpan());
    }

    public override void NextBytes(Span<byte> buffer)
    {
        while (buffer.Length >= sizeof(ulong))
        {
            BinaryPrimitives.WriteUInt64LittleEndian(buffer, Draw());
            buffer = buffer[sizeof(ulong)..];
        }
        if (buffer.IsEmpty) return;
        Span<byte> last = stackalloc byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(last, Draw());
        last[..buffer.Length].CopyTo(buffer);
    }

    protected override double Sample() => NextDouble();

    /// <summary>
    /// Gives a number that is uniform in [0, limit); 0 for a limit of 0. It is the upper half of a product, drawn again where it would
    /// favour small numbers.
    /// </summary>
    private ulong Below(ulong limit)
    {
        ulong high = Math.BigMul(Draw(), limit, out ulong low);
        if (low >= limit) return high;
        ulong favoured = limit == 0 ? 0 : (0 - limit) % limit;
        while (low < favoured) high = Math.BigMul(Draw(), limit, out low);
        return high;
    }

    private ulong Draw()
    {
        // An object that a task's body or a thread of the app got hold of would give numbers that replay does not give.
        if (!Scheduler.IsAnyExecuting && !Scheduler.IsAnyConverting && !Scheduler.IsAnyOfTest)
            throw new BindingMisuseException(Misuse.RandomElsewhere);
        ulong drawn = BitOperations.RotateLeft(_b * 5, 7) * 9;
        ulong mixed = _b << 17;
        _c ^= _a;
        _d ^= _b;
        _b ^= _c;
        _a ^= _d;
        _c ^= mixed;
        _d = BitOperations.RotateLeft(_d, 45);
        return drawn;
    }
}
