namespace Ambrosia.Protocol;

/// <summary>Byte position in an instance's log since its beginning (log-format L2.1). A record's Lsn is that of its first byte.</summary>
public readonly record struct Lsn(ulong Value) : IComparable<Lsn>
{
    public static readonly Lsn Zero = new(0);

    /// <summary>
    /// Every position is below this (4 EiB), so that adding a length to one never overflows; what comes from outside is checked for it.
    /// </summary>
    public const ulong Limit = 1ul << 62;

    public int CompareTo(Lsn other) => Value.CompareTo(other.Value);

    public static bool operator <(Lsn a, Lsn b) => a.Value < b.Value;
    public static bool operator >(Lsn a, Lsn b) => a.Value > b.Value;
    public static bool operator <=(Lsn a, Lsn b) => a.Value <= b.Value;
    public static bool operator >=(Lsn a, Lsn b) => a.Value >= b.Value;

    /// <summary>The later of two.</summary>
    public static Lsn Max(Lsn a, Lsn b) => a > b ? a : b;

    /// <summary>Position <paramref name="bytes"/> further on; overflow is a bug and throws.</summary>
    public static Lsn operator +(Lsn a, long bytes) => new(checked((ulong)((long)a.Value + bytes)));

    /// <summary>Distance in bytes.</summary>
    public static long operator -(Lsn a, Lsn b) => checked((long)(a.Value - b.Value));

    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
