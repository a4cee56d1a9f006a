using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Texts;
using Spectre.Console;

namespace Ambrosia.Tools.Output;

/// <summary>
/// The one way in which commands show something. Reports become JSON lines, or text with colours on a terminal and without in a pipe; lines
/// are never cut. Misuse goes to the error stream in both forms. Every text that it is given is made harmless here, whoever has written it:
/// what a log, a manifest or a coordinator says reaches a terminal no other way. One thread uses it.
/// </summary>
internal sealed class Screen
{
    // Characters beyond ASCII stay readable; what a terminal obeys is escaped all the same, here or behind it.
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

    /// <summary>True if reports are shown as JSON.</summary>
    public bool IsJson { get; }

    /// <summary>Shows one report: as a line of JSON, or as it draws itself.</summary>
    public void Show(IReport report)
    {
        if (IsJson) Write(HarmlessText.Quoted(JsonSerializer.Serialize(report.Content, report.Content.GetType(), s_json)));
        else report.Draw(this);
    }

    /// <summary>Shows a line of text; for people only.</summary>
    public void Line(string text = "", Tone tone = Tone.Plain)
    {
        if (IsJson) throw new InvalidOperationException("text in the middle of JSON");
        string line = HarmlessText.Line(text);
        Write(_terminal is null || tone == Tone.Plain || s_plain ? line : Coloured(line, tone));
    }

    /// <summary>Shows a piece of text that is JSON already, in both forms: whole characters of UTF-8.</summary>
    public void Piece(ReadOnlySpan<byte> utf8)
    {
        string text = HarmlessText.Json(Encoding.UTF8.GetString(utf8));
        Guard(() => _streams.Output.Write(text));
    }

    /// <summary>Says something beside what is shown, where it is in nobody's way.</summary>
    public void Note(string line) => Guard(() => _streams.Error.WriteLine(HarmlessText.Line(line)));

    /// <summary>Asks beside what is shown, and returns true if the answer is yes.</summary>
    public bool Confirms(string question)
    {
        Flush();
        Guard(() => _streams.Error.Write($"{HarmlessText.Line(question)} [y/N] "));
        return _streams.Input?.ReadLine()?.Trim() is { } answer
            && (answer.Equals("y", StringComparison.OrdinalIgnoreCase) || answer.Equals("yes", StringComparison.OrdinalIgnoreCase));
    }

    /// <summary>Shows a table; for people only.</summary>
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

    /// <summary>Shows on the error stream what the user did wrong.</summary>
    public void ShowMisuse(MisuseException misuse)
    {
        Flush();
        if (IsJson)
            _streams.Error.WriteLine(
                HarmlessText.Quoted(JsonSerializer.Serialize(new { error = new { misuse.What, misuse.Why, misuse.Mend } }, s_json)));
        else _streams.Error.WriteLine(HarmlessText.Line($"ambrosia: {misuse.Message}"));
    }

    /// <summary>
    /// Runs work that reports how many of <paramref name="total"/> bytes it has done. If the error stream is a terminal, it shows a bar.
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

    /// <summary>Gives everything shown so far to the operating system.</summary>
    /// <exception cref="OutputClosedException">Nobody reads the output any more.</exception>
    public void Flush() => Guard(_streams.Output.Flush);

    /// <summary>Shows a line at once, while the command goes on.</summary>
    public void Live(string line)
    {
        Line(line);
        Flush();
    }

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

/// <summary>
/// A report is what a command has found. With --json its public properties are written as they are, so they are its schema
/// (docs/tools.md). For people it draws itself.
/// </summary>
internal interface IReport
{
    /// <summary>It is what --json writes: the report itself, or the one thing that it draws.</summary>
    object Content => this;

    /// <summary>Shows the report as text.</summary>
    void Draw(Screen screen);
}

/// <summary>The meaning of a line. It decides about the colour on a terminal, and about nothing in a pipe.</summary>
internal enum Tone { Plain, Heading, Good, Warning, Bad }

/// <summary>They are the streams to which one invocation of the tool writes.</summary>
/// <param name="IsTerminal">True if a person looks at <paramref name="Output"/>, so that colours and drawn tables are welcome.</param>
/// <param name="IsErrorTerminal">True if a person looks at <paramref name="Error"/>, so that progress is shown there.</param>
/// <param name="Input">Where questions are answered; null: they are answered with no.</param>
internal sealed record ToolStreams(
    TextWriter Output, TextWriter Error, bool IsTerminal = false, bool IsErrorTerminal = false, TextReader? Input = null);

/// <summary>
/// The user has asked for something that cannot be done. The message says what, why, and how to mend it; the exit code is 2.
/// </summary>
/// <param name="what">What is wrong, with the words that the user gave.</param>
/// <param name="why">Why that cannot work; empty where <paramref name="what"/> says it.</param>
/// <param name="mend">What to do instead.</param>
internal sealed class ToolMisuse(string what, string why, string mend) : MisuseException(what, why, mend);

/// <summary>It is thrown where nobody reads the output any more.</summary>
internal sealed class OutputClosedException(IOException cause) : Exception(cause.Message, cause);
