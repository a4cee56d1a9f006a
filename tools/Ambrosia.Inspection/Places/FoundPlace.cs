using System.Text;
using Ambrosia.Inspection.Records;
using Ambrosia.Inspection.Texts;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Places;

/// <summary>Says where in a log a place is, and what stands there.</summary>
public sealed record FoundPlace
{
    /// <summary>
    /// Everything before this place is executed. It is that of a message, or of a record without messages, or a position where none begins.
    /// </summary>
    public required MessagePlace Place { get; init; }

    /// <summary>True if nothing that is stated as durable stands at the place or behind it.</summary>
    public bool IsEnd { get; init; }

    /// <summary>
    /// The place that was asked for, where nothing stands, so that <see cref="Place"/> is the next behind it; null: it is what was asked.
    /// </summary>
    public Lsn? NextBehind { get; init; }

    /// <summary>
    /// The time at which what stands there was logged, in µs since 1970, and at the end that of the last record. Null: nothing was logged.
    /// </summary>
    public long? TimeMicros { get; init; }

    /// <summary>What stands there; null: nothing does, or it was truncated since it was found.</summary>
    internal LogEntry? Entry { get; init; }

    /// <summary>
    /// Says in one line what stands there, as <c>4160:2  call  IBank.Transfer(to: "ada")  from teller  call 17  2026-11-21T…</c> does.
    /// </summary>
    public override string ToString()
    {
        var line = new StringBuilder().Append(Place);
        if (Entry is { } entry && entry.Place != Place) line.Append("  before ").Append(entry.Place);
        if (IsEnd) line.Append("  the end of the log");
        else if (Entry is not null) Entry.AppendShort(line.Append("  "));
        if (TimeMicros is { } time) line.Append("  ").Append(TextFormat.Time(time));
        if (NextBehind is { } asked) line.Append("  (the next behind ").Append(asked).Append(')');
        return line.ToString();
    }

    /// <summary>Names the place in a few words, for refusals that offer it.</summary>
    internal string ToOffer() => IsEnd ? $"{Place} (the end)" : Entry is null ? $"{Place}" : $"{Place} ({Entry.Name})";
}
