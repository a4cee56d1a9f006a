using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>The command in a process, which is told to end, and killed if it does not.</summary>
internal sealed partial class DevProcess : IDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(5);

    private readonly StringBuilder _output = new();
    private readonly Process _process;

    internal DevProcess(string directory, string? app = null)
    {
        string output = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory), root = output;
        while (!File.Exists(Path.Combine(root, "Ambrosia.sln"))) root = Path.GetDirectoryName(root)!;
        string configuration = Path.GetFileName(Path.GetDirectoryName(output)!);
        string tool = Path.Combine(root, "tools", "ambrosia", "bin", configuration, Path.GetFileName(output), "ambrosia");
        var start = new ProcessStartInfo(
            tool, ["dev", app ?? $"till={Path.Combine(output, "Ambrosia.Hosting.App")}", "--log", Path.Combine(directory, "log")])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = directory,
        };
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.Environment["ASPNETCORE_URLS"] = "http://127.0.0.1:0";
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, e) => Take(e.Data);
        _process.ErrorDataReceived += (_, e) => Take(e.Data);
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    internal string Output { get { lock (_output) return _output.ToString(); } }

    internal Uri? Address => Serving().Matches(Output) is [.., var last] ? new Uri(last.Groups[1].Value) : null;

    internal void Press(char key)
    {
        _process.StandardInput.Write(key);
        _process.StandardInput.Flush();
    }

    /// <summary>Sends what Ctrl-C sends.</summary>
    internal void Interrupt()
    {
        using Process kill = Process.Start("kill", ["-INT", _process.Id.ToString(CultureInfo.InvariantCulture)]);
        kill.WaitForExit();
    }

    internal async Task Until(Func<bool> holds)
    {
        for (long begun = Stopwatch.GetTimestamp(); !holds(); await Task.Delay(10))
            Assert.True(Stopwatch.GetElapsedTime(begun) < s_limit, Output);
    }

    internal int AwaitEnd()
    {
        Assert.True(_process.WaitForExit(s_limit), Output);
        _process.WaitForExit();
        return _process.ExitCode;
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

    [GeneratedRegex(@"\| +(?:serving|Now listening on:) (http://\S+)")]
    private static partial Regex Serving();
}
