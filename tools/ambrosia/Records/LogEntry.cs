using System.Globalization;
using System.Text;
using System.Text.Json.Serialization;

namespace Ambrosia.Tools;

/// <summary>One line of 'ambrosia log --records': a message of a run, or a whole record of another kind.</summary>
/// <param name="Lsn">Of the record; the messages of one run share it.</param>
/// <param name="Epoch">Of the page.</param>
/// <param name="Kind">Of messages "fork", "call", "result", "failure", "impulse", "clientRequest"; else the record's kind.</param>
internal sealed record LogEntry(ulong Lsn, string Time, ulong Epoch, string Kind) : IReport
{
    /// <summary>The sender; the instance's own name for what it sends itself.</summary>
    public string? From { get; init; }

    /// <summary>SequenceNumber on the sender's channel; of impulses on that of <see cref="SenderEpoch"/>.</summary>
    public ulong? Number { get; init; }

    /// <summary>The sender's epoch; impulses only.</summary>
    public ulong? SenderEpoch { get; init; }

    /// <summary>Counter of the caller's call id.</summary>
    public ulong? Call { get; init; }

    /// <summary>Idempotency key, as h'…'.</summary>
    public string? Key { get; init; }

    public EntryMethod? Method { get; init; }

    public IReadOnlyList<EntryArgument>? Arguments { get; init; }

    /// <summary>Of a result.</summary>
    public string? Value { get; init; }

    public EntryFailure? Failure { get; init; }

    /// <summary>Of a record that carries no messages.</summary>
    public IReadOnlyDictionary<string, object>? Fields { get; init; }

    /// <summary>Why it could not be decoded.</summary>
    public string? Problem { get; init; }

    [JsonIgnore]
    public bool IsMessage => Method is not null;

    public void Draw(Screen screen) => screen.Line(ToString(), Problem is not null || Failure is not null ? Tone.Warning : Tone.Plain);

    public override string ToString()
    {
        var line = new StringBuilder();
        line.Append(CultureInfo.InvariantCulture, $"{Lsn,12}  {Time}  {Kind,-10}");
        if (From is not null) line.Append(CultureInfo.InvariantCulture, $"  {From,-8} #{Number}");
        if (Call is { } call) line.Append(CultureInfo.InvariantCulture, $"  call {call}");
        if (Method is not null) line.Append("  ").Append(Method);
        if (Arguments is not null) line.Append('(').AppendJoin(", ", Arguments).Append(')');
        if (Value is not null) line.Append(" = ").Append(Value);
        for (EntryFailure? failure = Failure; failure is not null; failure = failure.Inner)
            line.Append(failure == Failure ? " failed: " : " <- ").Append(failure);
        if (Key is not null) line.Append("  key ").Append(Key);
        if (Fields is not null) line.Append("  ").AppendJoin(" ", Fields.Select(static field => $"{field.Key}={Text(field.Value)}"));
        if (Problem is not null) line.Append("  CANNOT BE DECODED: ").Append(Problem);
        return line.ToString().TrimEnd();
    }

    private static string Text(object value) =>
        value is IEnumerable<string> list ? $"[{string.Join(", ", list)}]" : Convert.ToString(value, CultureInfo.InvariantCulture)!;
}
