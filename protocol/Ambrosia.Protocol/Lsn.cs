namespace Ambrosia.Protocol;

/// <summary>
/// A log sequence number is a byte position in an instance's log, counted from its beginning (log-format L2.1). A record's Lsn is the
/// position of its first byte.
/// </summary>
public readonly record struct Lsn(ulong Value) : IComparable<Lsn>
{
    public static readonly Lsn Zero = new(0);

    /// <summary>
    /// Every position is below this limit (4 EiB), so that adding a length never overflows. Positions from outside are checked against it.
    /// </summary>
    public const ulong Limit = 1ul << 62;

    public int CompareTo(Lsn other) => Value.CompareTo(other.Value);

    public static bool operator <(Lsn a, Lsn b) => a.Value < b.Value;
    public static bool operator >(Lsn a, Lsn b) => a.Value > b.Value;
    public static bool operator <=(Lsn a, Lsn b) => a.Value <= b.Value;
    public static bool operator >=(Lsn a, Lsn b) => a.Value >= b.Value;

    /// <summary>Returns the later of two positions.</summary>
    public static Lsn Max(Lsn a, Lsn b) => a > b ? a : b;

    /// <summary>Returns the position <paramref name="bytes"/> further on; an overflow is a bug and throws.</summary>
    public static Lsn operator +(Lsn a, long bytes) => new(checked((ulong)((long)a.Value + bytes)));

    /// <summary>Returns the distance in bytes.</summary>
    public static long operator -(Lsn a, Lsn b) => checked((long)(a.Value - b.Value));

    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
