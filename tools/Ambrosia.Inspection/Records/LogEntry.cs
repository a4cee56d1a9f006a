using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Inspection.Records;

/// <summary>It is one line of 'ambrosia log --records': a message of a run, or a whole record of another kind.</summary>
/// <param name="Lsn">The position of the record, which the messages of one run share.</param>
/// <param name="Epoch">The epoch of the page.</param>
/// <param name="Kind">For messages "fork", "call", "result", "failure", "impulse" or "clientRequest", else the record's kind.</param>
internal sealed record LogEntry(ulong Lsn, string Time, ulong Epoch, string Kind)
{
    private const int ShortContentCharsMax = 400;

    /// <summary>Returns the name by which lines and reports call a kind of message or record.</summary>
    public static string NameOf<T>(T kind) where T : struct, Enum => JsonNamingPolicy.CamelCase.ConvertName($"{kind}");

    /// <summary>The name of the sender, which for messages of the instance to itself is its own.</summary>
    public string? From { get; init; }

    /// <summary>The SequenceNumber on the sender's channel; for impulses it counts within <see cref="SenderEpoch"/>.</summary>
    public ulong? Number { get; init; }

    /// <summary>The epoch of the sender; for impulses only.</summary>
    public ulong? SenderEpoch { get; init; }

    /// <summary>The counter in the caller's call id.</summary>
    public ulong? Call { get; init; }

    /// <summary>The idempotency key, as h'…'.</summary>
    public string? Key { get; init; }

    public EntryMethod? Method { get; init; }

    public IReadOnlyList<EntryArgument>? Arguments { get; init; }

    /// <summary>The value of a result.</summary>
    public string? Value { get; init; }

    public EntryFailure? Failure { get; init; }

    /// <summary>
    /// The records in the sender's log that made the first and the last message of the run, if the run says it: bounds for each of them.
    /// </summary>
    public EntryCause? Cause { get; init; }

    /// <summary>The trace to which a message belongs, as trace id, span id and flags in hexadecimal; null: it is not sampled.</summary>
    public string? Trace { get; init; }

    /// <summary>The names and values of a record that carries no messages.</summary>
    public IReadOnlyDictionary<string, object>? Fields { get; init; }

    /// <summary>The reason why it could not be decoded.</summary>
    public string? Problem { get; init; }

    /// <summary>The index of the message in its record; 0 for a record of another kind.</summary>
    [JsonIgnore]
    public uint Index { get; init; }

    /// <summary>The time at which its page was made, in µs since 1970.</summary>
    [JsonIgnore]
    public long TimeMicros { get; init; }

    [JsonIgnore]
    public MessagePlace Place => new(new Lsn(Lsn), Index);

    /// <summary>Kind, method and sender alone.</summary>
    [JsonIgnore]
    public string Name => $"{Kind}{(Method is null ? "" : $" of {Method}")}{(From is null ? "" : $" from {From}")}";

    /// <summary>
    /// Writes what is called or answered, cut where that is long, by whom, and the call's id; of other records kind and fields.
    /// </summary>
    public void AppendShort(StringBuilder line)
    {
        int contentEnd = line.Append(Kind).Length + ShortContentCharsMax;
        AppendContent(line);
        if (line.Length > contentEnd)
        {
            line.Length = char.IsHighSurrogate(line[contentEnd - 1]) ? contentEnd - 1 : contentEnd;
            line.Append('…');
        }
        if (From is not null) line.Append("  from ").Append(From);
        if (Call is { } call) line.Append(CultureInfo.InvariantCulture, $"  call {call}");
        AppendRest(line);
    }

    public override string ToString()
    {
        var line = new StringBuilder();
        line.Append(CultureInfo.InvariantCulture, $"{Lsn,12}  {Time}  {Kind,-10}");
        if (From is not null) line.Append(CultureInfo.InvariantCulture, $"  {From,-8} #{Number}");
        if (Call is { } call) line.Append(CultureInfo.InvariantCulture, $"  call {call}");
        AppendContent(line);
        AppendRest(line);
        return line.ToString().TrimEnd();
    }

    private void AppendContent(StringBuilder line)
    {
        if (Method is not null) line.Append("  ").Append(Method);
        if (Arguments is not null) line.Append('(').AppendJoin(", ", Arguments).Append(')');
        if (Value is not null) line.Append(" = ").Append(Value);
        for (EntryFailure? failure = Failure; failure is not null; failure = failure.Inner)
            line.Append(failure == Failure ? " failed: " : " <- ").Append(failure);
    }

    private void AppendRest(StringBuilder line)
    {
        if (Key is not null) line.Append("  key ").Append(Key);
        if (Cause is not null) line.Append("  by ").Append(Cause);
        if (Trace is not null) line.Append("  trace ").Append(Trace);
        if (Fields is not null) line.Append("  ").AppendJoin(" ", Fields.Select(static field => $"{field.Key}={Text(field.Value)}"));
        if (Problem is not null) line.Append("  CANNOT BE DECODED: ").Append(Problem);
    }

    private static string Text(object value) =>
        value is IEnumerable<string> list ? $"[{string.Join(", ", list)}]" : Convert.ToString(value, CultureInfo.InvariantCulture)!;
}

/// <summary>It names the method of a message, as far as manifests are given.</summary>
/// <param name="Name">"Interface.Method", several joined by '|' where contracts share the id, or null where no manifest has it.</param>
internal sealed record EntryMethod(uint Id, string? Name)
{
    public override string ToString() => Name ?? $"method {Id}";
}

/// <summary>It shows an argument of a message as text.</summary>
/// <param name="Name">The name of the parameter, or null where it is not known.</param>
/// <param name="Type">The type as the manifest writes it, or null where it is not known.</param>
internal sealed record EntryArgument(string? Name, string? Type, string Value)
{
    public override string ToString() => Name is null ? Value : $"{Name}: {Value}";
}

/// <summary>It says between which records of the sender's log a message was made, both inclusive.</summary>
internal sealed record EntryCause(ulong First, ulong Last)
{
    public static EntryCause? Of(RunCause? cause) => cause is { } said ? new EntryCause(said.First.Value, said.Last.Value) : null;

    public override string ToString() =>
        First == Last ? First.ToString(CultureInfo.InvariantCulture) : string.Create(CultureInfo.InvariantCulture, $"{First}..{Last}");
}

/// <summary>It shows a failure as the message carries it (protocol P4.4).</summary>
internal sealed record EntryFailure(string Type, string Message, EntryFailure? Inner)
{
    public static EntryFailure Of(FailureInfo failure) =>
        new(failure.TypeName, failure.Message, failure.Inner is { } inner ? Of(inner) : null);

    public override string ToString() => HarmlessText.Line($"{Type}: {Message}");
}
