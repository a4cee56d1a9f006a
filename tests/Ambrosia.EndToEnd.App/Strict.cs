using Ambrosia.Protocol;

namespace Ambrosia.EndToEnd.App;

/// <summary>Adds up what it is given.</summary>
public interface IStrict
{
    /// <returns>The sum so far.</returns>
    long Add(long cents, ReadOnlyMemory<byte> filling);
}

/// <summary>
/// A planted fault: what it has written it does not restore if the sum is UNREADABLE_FROM or more, as a build whose reader accepts less
/// than the writer of the build before.
/// </summary>
public sealed partial class Strict : Immortal<IStrictProxy>, IStrict
{
    private readonly List<Sum> _sums = [];

    public long Add(long cents, ReadOnlyMemory<byte> filling)
    {
        if (_sums.Count == 0) _sums.Add(new Sum(0));
        _sums[0] = new Sum(_sums[0].Cents + cents);
        return _sums[0].Cents;
    }
}

[StateSerializer(typeof(SumSerializer))]
internal sealed class Sum(long cents)
{
    public long Cents { get; } = cents;
}

internal sealed class SumSerializer : IStateSerializer<Sum>
{
    private static readonly ulong s_unreadableFrom = Settings.Number("UNREADABLE_FROM", long.MaxValue);

    public void Write(ref CborWriter to, Sum value) => to.WriteInt64(value.Cents);

    public Sum Read(ref CborReader from)
    {
        long cents = from.ReadInt64();
        return cents < (long)s_unreadableFrom ? new Sum(cents) : throw new FormatException($"a sum of {cents} is too high");
    }
}
