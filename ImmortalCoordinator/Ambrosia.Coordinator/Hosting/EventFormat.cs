using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Texts;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Formats each event as one line, as docs/operating.md states it: <c>TIME LEVEL EVENT TEXT</c>, or <c>&lt;N&gt;EVENT TEXT</c> for the
/// journal, or a JSON object. It owns nothing that changes, so any thread may call it.
/// </summary>
/// <param name="isForJournal">Whether systemd's journal reads the output: it knows the time, and takes the priority from the line.</param>
internal sealed class EventFormat(CoordinatorOptions options, bool isForJournal, TimeProvider time)
{
    /// <summary>A text, or a field, is cut behind so many characters.</summary>
    internal const int TextCharsMax = 8_192;

    /// <summary>The runtime's name of the template among the fields.</summary>
    private const string TemplateField = "{OriginalFormat}";

    /// <summary>The journal takes the output as it is where this variable is set (systemd.exec(5)).</summary>
    private const string JournalVariable = "JOURNAL_STREAM";

    private const string InstanceField = "instance";

    private static readonly JsonWriterOptions s_json = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>Formats for the output that this process was started with.</summary>
    public static EventFormat OfProcess(CoordinatorOptions options) =>
        new(options, Environment.GetEnvironmentVariable(JournalVariable) is { Length: > 0 }, TimeProvider.System);

    /// <summary>Returns the line of an event, with its end.</summary>
    /// <param name="fields">Names and values, as a logger gets them.</param>
    public string LineOf(LogLevel level, string? name, string text, IEnumerable<KeyValuePair<string, object?>> fields)
    {
        if (options.EventEncoding == EventEncoding.Json) return JsonOf(level, name, text, fields);
        string whole = $"{name} {(options.NamesItsEvents ? $"{options.Instance}: " : "")}{HarmlessText.Line(Cut(text))}\n";
        return isForJournal ? $"<{PriorityOf(level)}>{whole}" : $"{Now()} {NameOf(level),-5} {whole}";
    }

    private string JsonOf(LogLevel level, string? name, string text, IEnumerable<KeyValuePair<string, object?>> fields)
    {
        var bytes = new ArrayBufferWriter<byte>(256);
        using (var json = new Utf8JsonWriter(bytes, s_json))
        {
            json.WriteStartObject();
            json.WriteString("time", Now());
            json.WriteString("level", NameOf(level));
            json.WriteString(InstanceField, options.Instance);
            json.WriteString("event", name);
            json.WriteString("text", Cut(text));
            foreach ((string field, object? value) in fields)
            {
                string key = JsonNamingPolicy.CamelCase.ConvertName(field);
                if (field != TemplateField && key != InstanceField) WriteField(json, key, value);
            }
            json.WriteEndObject();
        }
        // The encoder leaves characters that turn the direction of a line as they are.
        return HarmlessText.Quoted(Encoding.UTF8.GetString(bytes.WrittenSpan)) + "\n";
    }

    private static void WriteField(Utf8JsonWriter json, string key, object? value)
    {
        switch (value)
        {
            case int number: json.WriteNumber(key, number); break;
            case long number: json.WriteNumber(key, number); break;
            case ulong number: json.WriteNumber(key, number); break;
            case double number: json.WriteNumber(key, number); break;
            case Lsn lsn: json.WriteNumber(key, lsn.Value); break;
            case Epoch epoch: json.WriteNumber(key, epoch.Value); break;
            default: json.WriteString(key, Cut(value?.ToString() ?? "")); break;
        }
    }

    private string Now() => time.GetUtcNow().UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);

    private static string Cut(string text) => text.Length <= TextCharsMax ? text : $"{text.AsSpan(0, TextCharsMax)}…";

    private static string NameOf(LogLevel level) => level switch
    {
        LogLevel.Trace => "trace",
        LogLevel.Debug => "debug",
        LogLevel.Information => "info",
        LogLevel.Warning => "warn",
        LogLevel.Error => "error",
        _ => "fatal",
    };

    /// <summary>Returns the priority of syslog(3).</summary>
    private static int PriorityOf(LogLevel level) => level switch
    {
        LogLevel.Trace or LogLevel.Debug => 7,
        LogLevel.Information => 6,
        LogLevel.Warning => 4,
        LogLevel.Error => 3,
        _ => 2,
    };
}
