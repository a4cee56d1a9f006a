using System.Diagnostics;

namespace Ambrosia.Suspension.Tests;

/// <summary>
/// A coordinator that starts a compiled variant as its app. Lines come on other threads; ended by id, with the app,
/// which cannot outlive it.
/// </summary>
internal sealed class CoordinatorProcess : IDisposable
{
    private static readonly TimeSpan patience = TimeSpan.FromMinutes(2);

    private readonly Process process;
    private readonly List<string> lines = [];

    public CoordinatorProcess(string log, UpgradeTests.Build build)
    {
        string beside = AppContext.BaseDirectory;
        process = new Process
        {
            StartInfo = new ProcessStartInfo("dotnet",
            [
                Path.Combine(beside, "ImmortalCoordinator.dll"), "--log", log, "--catalog",
                Path.Combine(Path.GetDirectoryName(log)!, "catalog"), "--checkpoint-bound", "1",
                "--", "dotnet", Path.Combine(beside, "Ambrosia.Suspension.App.dll"), "run", build.File, "Demo.Waiting",
            ]) { RedirectStandardOutput = true, RedirectStandardError = true },
        };
        process.OutputDataReceived += (_, line) => Add(line.Data);
        process.ErrorDataReceived += (_, line) => Add(line.Data);
        process.Start();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public string[] Lines
    {
        get
        {
            lock (lines) return [.. lines];
        }
    }

    /// <summary>The first line that has this in it.</summary>
    public string Await(string part)
    {
        lock (lines)
        {
            long begun = Stopwatch.GetTimestamp();
            while (true)
            {
                if (lines.Find(line => line.Contains(part, StringComparison.Ordinal)) is { } found) return found;
                TimeSpan left = patience - Stopwatch.GetElapsedTime(begun);
                if (left <= TimeSpan.Zero || !Monitor.Wait(lines, left))
                    throw new TimeoutException($"no line with '{part}' came:\n{string.Join('\n', lines)}");
            }
        }
    }

    public int AwaitExit()
    {
        if (!process.WaitForExit(patience)) throw new TimeoutException($"the coordinator has not ended:\n{string.Join('\n', Lines)}");
        process.WaitForExit(); // until its last line has come
        return process.ExitCode;
    }

    /// <summary>kill -9.</summary>
    public void Kill()
    {
        process.Kill();
        process.WaitForExit(patience);
    }

    public void Dispose()
    {
        if (!process.HasExited) Kill();
        process.Dispose();
    }

    private void Add(string? line)
    {
        if (line is null) return;
        lock (lines)
        {
            lines.Add(line);
            Monitor.PulseAll(lines);
        }
    }
}
