using System.Globalization;

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

/// <summary>
/// The fencing token of an instance. It grows by one at each change of primary; each start of a coordinator is such a change.
/// </summary>
public readonly record struct Epoch(ulong Value) : IComparable<Epoch>
{
    public Epoch Next => new(checked(Value + 1));

    public int CompareTo(Epoch other) => Value.CompareTo(other.Value);

    public static bool operator <(Epoch a, Epoch b) => a.Value < b.Value;
    public static bool operator >(Epoch a, Epoch b) => a.Value > b.Value;
    public static bool operator <=(Epoch a, Epoch b) => a.Value <= b.Value;
    public static bool operator >=(Epoch a, Epoch b) => a.Value >= b.Value;

    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary>
/// The place of a message in a log, by which people and Quarantine records name it. Its text is <c>4160:2</c>: record 4160, message 2.
/// </summary>
/// <param name="Record">Position of the record whose run holds the message.</param>
/// <param name="Index">Index of the message in the run, from 0.</param>
public readonly record struct MessagePlace(Lsn Record, uint Index) : IComparable<MessagePlace>
{
    public int CompareTo(MessagePlace other) => Record != other.Record ? Record.CompareTo(other.Record) : Index.CompareTo(other.Index);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Record.Value}:{Index}");

    /// <summary>Parses what <see cref="ToString"/> writes. A text without an index names the first message.</summary>
    public static bool TryParse(string text, out MessagePlace place)
    {
        place = default;
        int colon = text.IndexOf(':', StringComparison.Ordinal);
        uint index = 0;
        if (colon >= 0 && !uint.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out index)) return false;
        if (!ulong.TryParse(colon < 0 ? text : text.AsSpan(0, colon), NumberStyles.None, CultureInfo.InvariantCulture, out ulong record)
            || record >= Lsn.Limit) return false;
        place = new MessagePlace(new Lsn(record), index);
        return true;
    }
}
