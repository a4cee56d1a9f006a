using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>A process whose output is kept, which is told to end, and killed with all that it started if it does not.</summary>
internal abstract class WatchedProcess : IDisposable
{
    private readonly StringBuilder _output = new();
    private readonly Regex _serving;
    private int _isDisposed;

    /// <param name="serving">The line with the address at which its web server listens.</param>
    /// <param name="limit">So long is it waited for.</param>
    protected WatchedProcess(ProcessStartInfo start, Regex serving, TimeSpan limit)
    {
        (_serving, Limit) = (serving, limit);
        start.RedirectStandardInput = start.RedirectStandardOutput = start.RedirectStandardError = true;
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.Environment["ASPNETCORE_URLS"] = "http://127.0.0.1:0";
        Process = new Process { StartInfo = start };
        Process.OutputDataReceived += (_, e) => Take(e.Data);
        Process.ErrorDataReceived += (_, e) => Take(e.Data);
        Process.Start();
        Process.BeginOutputReadLine();
        Process.BeginErrorReadLine();
    }

    protected Process Process { get; }

    protected TimeSpan Limit { get; }

    internal string Output
    {
        get { lock (_output) return _output.ToString(); }
    }

    /// <summary>Where the web server listens; null: it does not say it yet.</summary>
    internal Uri? Address => _serving.Matches(Output) is [.., var last] ? new Uri(last.Groups[1].Value) : null;

    internal int AwaitEnd()
    {
        Assert.True(Process.WaitForExit(Limit), $"it still runs:\n{Output}");
        Process.WaitForExit();
        return Process.ExitCode;
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0) return;
        if (!Process.HasExited) Process.Kill(entireProcessTree: true);
        Process.WaitForExit(Limit);
        Process.Dispose();
    }

    /// <summary>Sends a signal by its name, such as INT, which Ctrl-C sends.</summary>
    protected void Signal(string name)
    {
        using Process kill = Process.Start("kill", [$"-{name}", Process.Id.ToString(CultureInfo.InvariantCulture)]);
        kill.WaitForExit();
    }

    private void Take(string? line)
    {
        if (line is null) return;
        lock (_output) _output.Append(line).Append('\n');
    }
}
