using System.Diagnostics;
using System.Text;

namespace Ambrosia.Samples.Tests;

/// <summary>
/// A program that lies beside the tests, run as a user runs it. What it started itself is killed with it, if it does not end in time.
/// </summary>
internal sealed class ProgramRun : IDisposable
{
    private static readonly TimeSpan limit = TimeSpan.FromSeconds(120);

    private readonly StringBuilder output = new();
    private readonly Process process;

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
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        foreach ((string name, string value) in settings) start.Environment[name] = value;
        process = new Process { StartInfo = start };
        process.OutputDataReceived += (_, e) => Take(e.Data);
        process.ErrorDataReceived += (_, e) => Take(e.Data);
        process.Start();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    /// <summary>Everything that it and what it started have printed so far.</summary>
    public string Output
    {
        get
        {
            lock (output) return output.ToString();
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
        Assert.True(process.WaitForExit(limit), $"still running after {limit.TotalSeconds} s:\n{Output}");
        process.WaitForExit();
        return process.ExitCode;
    }

    public void Tell(string line)
    {
        process.StandardInput.WriteLine(line);
        process.StandardInput.Flush();
    }

    public void AwaitLine(string part)
    {
        long begun = Stopwatch.GetTimestamp();
        while (!Output.Contains(part, StringComparison.Ordinal))
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < limit, $"'{part}' was not printed:\n{Output}");
            Thread.Sleep(10);
        }
    }

    /// <summary>kill -9: this process alone.</summary>
    public void Kill()
    {
        process.Kill();
        process.WaitForExit(limit);
    }

    /// <summary>SIGTERM.</summary>
    public void Terminate()
    {
        using Process kill = Process.Start("kill", ["-TERM", $"{process.Id}"]);
        kill.WaitForExit();
    }

    public void Dispose()
    {
        if (!process.HasExited) process.Kill(entireProcessTree: true);
        process.Dispose();
    }

    private void Take(string? line)
    {
        if (line is null) return;
        lock (output) output.Append(line).Append('\n');
    }
}
