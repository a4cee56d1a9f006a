using System.Diagnostics;
using System.Text;

namespace Ambrosia.Feed.Tests;

/// <summary>
/// Runs a program as a user does, in a folder and with an environment of its own. What has not ended in time is killed, with all that it
/// has started.
/// </summary>
internal sealed class Command : IDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(15);

    /// <summary>A test host hands down where it found its own build tools.</summary>
    private static readonly string[] s_handedDown =
        ["MSBuildSDKsPath", "MSBUILD_EXE_PATH", "MSBuildExtensionsPath", "MSBuildLoadMicrosoftTargetsReadOnly"];

    private readonly StringBuilder _output = new();
    private readonly Process _process;
    private readonly string _line;

    public Command(string folder, IReadOnlyDictionary<string, string> settings, string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder, UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (string name in s_handedDown) start.Environment.Remove(name);
        foreach ((string name, string value) in settings) start.Environment[name] = value;
        _line = $"{program} {string.Join(' ', arguments)}";
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, e) => Take(e.Data);
        _process.ErrorDataReceived += (_, e) => Take(e.Data);
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    /// <summary>Everything that it has printed so far, below its command line.</summary>
    public string Output
    {
        get
        {
            lock (_output) return $"{_line}\n{_output}";
        }
    }

    /// <summary>Waits for its end, and returns whether it said that all is well.</summary>
    public bool Succeeds()
    {
        if (!_process.WaitForExit(s_limit)) throw new TimeoutException($"not ended after {s_limit}: {Output}");
        _process.WaitForExit(); // until the output is read
        return _process.ExitCode == 0;
    }

    /// <summary>Waits until it has printed something that begins so, and returns what follows on that line.</summary>
    public string AwaitText(string beginning)
    {
        long begun = Stopwatch.GetTimestamp();
        while (true)
        {
            string output = Output;
            int at = output.IndexOf(beginning, StringComparison.Ordinal);
            if (at >= 0 && output.IndexOf('\n', at) is var end and > 0) return output[(at + beginning.Length)..end].Trim();
            Assert.False(_process.HasExited, $"it has ended with {(_process.HasExited ? _process.ExitCode : 0)}: {output}");
            Assert.True(Stopwatch.GetElapsedTime(begun) < s_limit, $"'{beginning}' was not printed: {output}");
            Thread.Sleep(10);
        }
    }

    /// <summary>Kills this process alone, with kill -9.</summary>
    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit();
    }

    public void Dispose()
    {
        if (!_process.HasExited) _process.Kill(entireProcessTree: true);
        _process.WaitForExit();
        _process.Dispose();
    }

    private void Take(string? line)
    {
        if (line is null) return;
        lock (_output) _output.Append(line).Append('\n');
    }
}
