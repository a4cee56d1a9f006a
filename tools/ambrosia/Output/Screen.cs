using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using Spectre.Console;

namespace Ambrosia.Tools;

/// <summary>
/// The one way in which commands speak: reports as JSON lines, or as text that a terminal sees with colours and a pipe without, never cut.
/// Misuse goes to the error stream, in both forms. One thread.
/// </summary>
internal sealed class Screen
{
    // Characters beyond ASCII stay readable; control characters are escaped all the same.
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
    };

    private static readonly bool s_plain = !string.IsNullOrEmpty(Environment.GetEnvironmentVariable("NO_COLOR"));

    private readonly ToolStreams _streams;
    private readonly IAnsiConsole? _terminal;

    public Screen(ToolStreams streams, bool isJson)
    {
        _streams = streams;
        IsJson = isJson;
        if (streams.IsTerminal && !isJson)
            _terminal = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.Yes, Out = new AnsiConsoleOutput(streams.Output) });
    }

    public bool IsJson { get; }

    /// <summary>Shows one report: a line of JSON, or as it draws itself.</summary>
    public void Show(IReport report)
    {
        if (IsJson) Write(JsonSerializer.Serialize(report, report.GetType(), s_json));
        else report.Draw(this);
    }

    /// <summary>A line of text; for people only.</summary>
    public void Line(string text = "", Tone tone = Tone.Plain)
    {
        if (IsJson) throw new InvalidOperationException("text in the middle of JSON");
        if (_terminal is null || tone == Tone.Plain || s_plain) Write(text);
        else Write(Coloured(text, tone));
    }

    public void Table(TextTable table)
    {
        if (_terminal is null)
        {
            foreach (string line in table.Lines()) Line(line);
            return;
        }
        var drawn = new Table { Border = TableBorder.Rounded };
        for (int i = 0; i < table.Titles.Count; i++)
        {
            var column = new TableColumn(new Text(table.Titles[i]));
            drawn.AddColumn(table.IsRight(i) ? column.RightAligned() : column);
        }
        foreach (string[] row in table.Rows) drawn.AddRow(row.Select(static cell => new Text(cell)));
        Guard(() => _terminal.Write(drawn));
    }

    /// <summary>What the user did wrong, on the error stream.</summary>
    public void ShowMisuse(ToolMisuse misuse)
    {
        Flush();
        if (IsJson)
            _streams.Error.WriteLine(JsonSerializer.Serialize(new { error = new { misuse.What, misuse.Why, misuse.Mend } }, s_json));
        else _streams.Error.WriteLine($"ambrosia: {misuse.Message}");
    }

    /// <summary>
    /// Runs work that says how many of <paramref name="total"/> bytes it has done; a person at the error stream sees a bar.
    /// </summary>
    public T WithProgress<T>(string what, long total, Func<Action<long>, T> work)
    {
        if (!_streams.IsErrorTerminal || IsJson) return work(static _ => { });
        IAnsiConsole error = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(_streams.Error) });
        return error.Progress().AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new DownloadedColumn(),
                new TransferSpeedColumn(), new RemainingTimeColumn())
            .Start(context =>
            {
                ProgressTask task = context.AddTask(Markup.Escape(what), maxValue: Math.Max(total, 1));
                return work(done => task.Value = Math.Min(done, total));
            });
    }

    public void Flush() => Guard(_streams.Output.Flush);

    private void Write(string line)
    {
        try
        {
            _streams.Output.WriteLine(line);
        }
        catch (IOException closed)
        {
            throw new OutputClosedException(closed);
        }
    }

    private static string Coloured(string text, Tone tone)
    {
        int code = tone switch { Tone.Good => 32, Tone.Warning => 33, Tone.Bad => 31, _ => 1 };
        return $"\e[{code}m{text}\e[0m";
    }

    private static void Guard(Action write)
    {
        try
        {
            write();
        }
        catch (IOException closed)
        {
            throw new OutputClosedException(closed);
        }
    }
}
