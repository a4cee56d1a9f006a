using System.Globalization;

namespace Ambrosia.Protocol;

/// <summary>Where a message stands in a log: what people and Quarantine records call it by. Written <c>4160:2</c>.</summary>
/// <param name="Record">Position of the run that it arrived in.</param>
/// <param name="Index">Which message of the run, from 0.</param>
public readonly record struct MessagePlace(Lsn Record, uint Index) : IComparable<MessagePlace>
{
    public int CompareTo(MessagePlace other) => Record != other.Record ? Record.CompareTo(other.Record) : Index.CompareTo(other.Index);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Record.Value}:{Index}");

    /// <summary>Reads what <see cref="ToString"/> writes; without an index the first message is meant.</summary>
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

    internal void Write(ref PayloadWriter to)
    {
        to.U64(Record.Value);
        to.U32(Index);
    }

    internal static MessagePlace Read(ref PayloadReader from) => new(from.Lsn(), from.U32());
}
