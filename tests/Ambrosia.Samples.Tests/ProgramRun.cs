using System.Diagnostics;
using System.Text;
using System.Text.RegularExpressions;

namespace Ambrosia.Samples.Tests;

/// <summary>
/// A program that lies beside the tests, run as a user runs it. What it started itself is killed with it, if it does not end in time.
/// </summary>
internal sealed class ProgramRun : IDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(120);

    private readonly StringBuilder _output = new();
    private readonly Process _process;

    public ProgramRun(string program, params ReadOnlySpan<string> arguments)
        : this(program, new Dictionary<string, string>(), arguments)
    {
    }

    public ProgramRun(string program, IReadOnlyDictionary<string, string> settings, params ReadOnlySpan<string> arguments)
    {
        var start = new ProcessStartInfo(System.IO.Path.Combine(AppContext.BaseDirectory, program))
        {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        // A process that is killed cannot remove the pipes of its debugger from the temporary folder, and its app inherits this.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        foreach ((string name, string value) in settings) start.Environment[name] = value;
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, e) => Take(e.Data);
        _process.ErrorDataReceived += (_, e) => Take(e.Data);
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    /// <summary>Everything that it and what it started have printed so far.</summary>
    public string Output
    {
        get
        {
            lock (_output) return _output.ToString();
        }
    }

    public string LastLine => Output.TrimEnd().Split('\n')[^1];

    /// <summary>Runs a program to its end.</summary>
    /// <returns>Exit code and last line.</returns>
    public static (int Code, string LastLine, string Output) ToEnd(string program, params ReadOnlySpan<string> arguments)
    {
        using var run = new ProgramRun(program, arguments);
        int code = run.AwaitEnd();
        return (code, run.LastLine, run.Output);
    }

    public int AwaitEnd()
    {
        Assert.True(_process.WaitForExit(s_limit), $"still running after {s_limit.TotalSeconds} s:\n{Output}");
        _process.WaitForExit();
        return _process.ExitCode;
    }

    public void Tell(string line)
    {
        _process.StandardInput.WriteLine(line);
        _process.StandardInput.Flush();
    }

    public void AwaitLine(string part) => AwaitLine(new Regex(Regex.Escape(part)));

    public void AwaitLine(Regex part)
    {
        long begun = Stopwatch.GetTimestamp();
        while (!part.IsMatch(Output))
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < s_limit, $"'{part}' was not printed:\n{Output}");
            Thread.Sleep(10);
        }
    }

    /// <summary>Kills this process alone, with kill -9.</summary>
    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit(s_limit);
    }

    /// <summary>Asks the process to end, with SIGTERM.</summary>
    public void Terminate()
    {
        using Process kill = Process.Start("kill", ["-TERM", $"{_process.Id}"]);
        kill.WaitForExit();
    }

    public void Dispose()
    {
        if (!_process.HasExited) _process.Kill(entireProcessTree: true);
        _process.Dispose();
    }

    private void Take(string? line)
    {
        if (line is null) return;
        lock (_output) _output.Append(line).Append('\n');
    }
}
