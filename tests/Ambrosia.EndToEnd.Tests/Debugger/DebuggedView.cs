using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;

namespace Ambrosia.EndToEnd.Tests.Debugger;

/// <summary>
/// A diary that has filled itself, and the command that looks at its past, as a developer has it: a console, and a debugger that is
/// attached to the app. Used by one thread; the lines come on others.
/// </summary>
internal sealed partial class DebuggedView : IDisposable
{
    /// <summary>What processes must not be told that are debugged. The tests tell it to all others.</summary>
    private const string NoDiagnostics = "DOTNET_EnableDiagnostics";

    private readonly Process _command;
    private readonly LineLog _lines = new("debug");
    private readonly int _app;

    /// <param name="options">Of the command, behind those that say what it shows.</param>
    public DebuggedView(string log, string until, string root, params string[] options)
    {
        ProcessStartInfo start = StartOf(Executables.Coordinator,
            ["debug", "--log", log, "--until", until, "--wait-for-debugger", .. options, "--", Executables.DebuggedApp], root);
        start.RedirectStandardInput = true;
        _command = new Process { StartInfo = start };
        _command.OutputDataReceived += (_, line) => Take(line.Data);
        _command.ErrorDataReceived += (_, line) => Take(line.Data);
        _command.Start();
        _command.BeginOutputReadLine();
        _command.BeginErrorReadLine();
        string waits = _lines.Await("a line with the process", static line => WaitingLine().IsMatch(line), 0, Cluster.Patience);
        _app = int.Parse(WaitingLine().Match(waits).Groups[1].ValueSpan, CultureInfo.InvariantCulture);
        Debugger = new AppDebugger(_app, Cluster.Patience);
    }

    public AppDebugger Debugger { get; }

    /// <summary>All lines of the command and its app.</summary>
    public string Lines => _lines.ToString();

    /// <summary>So many lines were written.</summary>
    public int LineCount => _lines.Count;

    /// <summary>The app is still the process that it was at first, and no other was started.</summary>
    public void AssertOneProcess()
    {
        Assert.False(_command.HasExited, Lines);
        Assert.Equal([$"app {_app}"], _lines.From(0).Where(static line => line.StartsWith("app ", StringComparison.Ordinal)));
        Assert.True(Directory.Exists($"/proc/{_app}"));
    }

    public void Tell(string command) => _command.StandardInput.WriteLine(command);

    /// <summary>Waits until the command says that the app stands before the message of a handler.</summary>
    public DiaryMessage AwaitStop(int from) =>
        DiaryMessage.TryRead(_lines.Await("a stop", static line => DiaryMessage.TryRead(line) is not null, from, Cluster.Patience))!;

    /// <summary>Waits until the command says that the app stands before a message.</summary>
    public void AwaitStop(DiaryMessage before, int from) =>
        _lines.Await($"a stop before {before}", line => DiaryMessage.TryRead(line) == before, from, Cluster.Patience);

    /// <summary>A process as the tests start one, but one that can be debugged.</summary>
    public static ProcessStartInfo StartOf(string program, string[] arguments, string directory)
    {
        ProcessStartInfo start = Executables.StartOf(program, arguments, new Dictionary<string, string>(), directory);
        start.Environment.Remove(NoDiagnostics);
        return start;
    }

    private void Take(string? line)
    {
        if (line is not null) _lines.Add(line);
    }

    public void Dispose()
    {
        if (Directory.Exists($"/proc/{_app}")) Signals.Kill(_app);
        if (!_command.HasExited) Signals.Kill(_command.Id);
        _command.WaitForExit();
        _command.Dispose();
    }

    [GeneratedRegex(@"^Waiting for a debugger: process (\d+)\.$")]
    private static partial Regex WaitingLine();
}

/// <summary>A call of a diary's handler, at its place in the log.</summary>
internal sealed partial record DiaryMessage(string Place, string Handler, int Number)
{
    private const string Suspends = "Read";

    /// <summary>The method of the class in which its code stands: that of an async handler is in a type made for it.</summary>
    public string Code => Handler == Suspends ? $".<{Suspends}>d__" : $"Ambrosia.Debugged.App.Diary.{Handler}";

    /// <summary>The handler has an argument where a debugger finds it.</summary>
    public bool HasArgument => Handler != Suspends;

    /// <summary>Null: the line does not say that the app stands before one.</summary>
    public static DiaryMessage? TryRead(string line)
    {
        if (Stopped().Match(line) is not { Success: true } match) return null;
        string place = match.Groups[1].Value;
        return Call().Match(line) is { Success: true } call
            ? new DiaryMessage(place, call.Groups[1].Value, int.Parse(call.Groups[2].ValueSpan, CultureInfo.InvariantCulture))
            : new DiaryMessage(place, Suspends, 0); // a result, for which only this one waits
    }

    [GeneratedRegex(@"^stopped before (\d+:\d+) ")]
    private static partial Regex Stopped();

    [GeneratedRegex(@" IDiary\.(\w+)\(number: (\d+)")]
    private static partial Regex Call();
}
