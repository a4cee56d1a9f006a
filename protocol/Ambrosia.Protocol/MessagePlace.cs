using System.Globalization;

namespace Ambrosia.Protocol;

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
