using System.Diagnostics;
using Ambrosia.TestKit;

namespace Ambrosia.Suspension.Tests;

/// <summary>
/// A coordinator that starts a compiled variant as its app. Lines come on other threads; ended by id, with the app,
/// which cannot outlive it.
/// </summary>
internal sealed class CoordinatorProcess : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(2);

    private readonly Process _process;
    private readonly List<string> _lines = [];

    public CoordinatorProcess(string log, UpgradeTests.Build build, string immortal = "Demo.Waiting", params string[] options)
    {
        string beside = AppContext.BaseDirectory;
        _process = new Process
        {
            StartInfo = new ProcessStartInfo("dotnet",
            [
                Path.Combine(beside, "ImmortalCoordinator.dll"), "--log", log, "--catalog",
                Path.Combine(Path.GetDirectoryName(log)!, "catalog"), "--checkpoint-bound", "1", "--log-format", "json",
                .. options, "--", "dotnet", Path.Combine(beside, "Ambrosia.Suspension.App.dll"), "run", build.File, immortal,
            ]) { RedirectStandardOutput = true, RedirectStandardError = true },
        };
        _process.OutputDataReceived += (_, line) => Add(line.Data);
        _process.ErrorDataReceived += (_, line) => Add(line.Data);
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    public string[] Lines
    {
        get
        {
            lock (_lines) return [.. _lines];
        }
    }

    /// <summary>The first line that has this in it.</summary>
    public string Await(string part)
    {
        lock (_lines)
        {
            long begun = Stopwatch.GetTimestamp();
            while (true)
            {
                if (_lines.Find(line => line.Contains(part, StringComparison.Ordinal)) is { } found) return found;
                TimeSpan left = s_patience - Stopwatch.GetElapsedTime(begun);
                if (left <= TimeSpan.Zero || !Monitor.Wait(_lines, left))
                    throw new TimeoutException($"no line with '{part}' came:\n{string.Join('\n', _lines)}");
            }
        }
    }

    public int AwaitExit()
    {
        if (!_process.WaitForExit(s_patience)) throw new TimeoutException($"the coordinator has not ended:\n{string.Join('\n', Lines)}");
        _process.WaitForExit(); // until its last line has come
        return _process.ExitCode;
    }

    /// <summary>SIGTERM: the log ends with a checkpoint.</summary>
    public void Stop()
    {
        using (Process kill = Process.Start("kill", ["-TERM", _process.Id.ToString(System.Globalization.CultureInfo.InvariantCulture)]))
            kill.WaitForExit(s_patience);
        int code = AwaitExit();
        if (code != 0) throw new InvalidOperationException($"the coordinator ended with {code}:\n{string.Join('\n', Lines)}");
    }

    /// <summary>kill -9.</summary>
    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit(s_patience);
    }

    public void Dispose()
    {
        if (!_process.HasExited) Kill();
        _process.Dispose();
    }

    private void Add(string? line)
    {
        if (line is null) return;
        lock (_lines)
        {
            _lines.Add(CoordinatorLine.TextOf(line));
            Monitor.PulseAll(_lines);
        }
    }
}
