using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Text;
using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>The program of the tests in a process of its own, by itself or under a coordinator. It is killed at the end.</summary>
internal sealed partial class TillProcess : IDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(90);

    private readonly StringBuilder _output = new();
    private readonly Process _process;
    private int _isDisposed;

    /// <param name="program">Beside the tests, or with its whole path.</param>
    private TillProcess(string program, IEnumerable<string> arguments, IEnumerable<(string Name, string Value)> variables)
    {
        var start = new ProcessStartInfo(Path.Combine(AppContext.BaseDirectory, program), arguments)
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.Environment["ASPNETCORE_URLS"] = "http://127.0.0.1:0";
        foreach ((string name, string value) in variables) start.Environment[name] = value;
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, e) => Take(e.Data);
        _process.ErrorDataReceived += (_, e) => Take(e.Data);
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    internal string Output
    {
        get { lock (_output) return _output.ToString(); }
    }

    /// <summary>Where the web server listens; null: it does not say it yet.</summary>
    internal Uri? Address => Serving().Matches(Output) is [.., var last] ? new Uri(last.Groups[1].Value) : null;

    internal bool HasEnded => _process.HasExited;

    /// <summary>The program with its coordinator in it.</summary>
    internal static TillProcess Embedded(string directory, params (string Name, string Value)[] variables) =>
        new("Ambrosia.Hosting.App", [], [("Ambrosia__Log", directory), ("Ledger", Path.Combine(directory, "ledger")), .. variables]);

    /// <param name="from">The directory that the program is in.</param>
    internal static TillProcess Embedded(string directory, string from) =>
        new(Path.Combine(from, "Ambrosia.Hosting.App"), [], [("Ambrosia__Log", directory)]);

    /// <summary>
    /// The program where no file can become longer than this: what would be longer fails, and the signal for it is ignored.
    /// </summary>
    internal static TillProcess Limited(string directory, long fileBytesMax) => new(
        "/bin/bash",
        ["-c", $"trap '' XFSZ; ulimit -f {fileBytesMax / 1024}; exec \"$0\"",
            Path.Combine(AppContext.BaseDirectory, "Ambrosia.Hosting.App")],
        [("Ambrosia__Log", directory), ("DOTNET_EnableWriteXorExecute", "0")]); // which makes a long file of the runtime's own

    /// <summary>The same program under a coordinator of its own.</summary>
    internal static TillProcess Beside(string directory) => new(
        "ImmortalCoordinator",
        ["--log", Path.Combine(directory, "till"), "--", Path.Combine(AppContext.BaseDirectory, "Ambrosia.Hosting.App")],
        [("Ledger", Path.Combine(directory, "ledger"))]);

    internal void Kill()
    {
        _process.Kill();
        _process.WaitForExit(s_limit);
    }

    internal void Terminate()
    {
        using Process kill = Process.Start("kill", ["-TERM", _process.Id.ToString(CultureInfo.InvariantCulture)]);
        kill.WaitForExit();
    }

    internal int AwaitEnd()
    {
        Assert.True(_process.WaitForExit(s_limit), $"it still runs:\n{Output}");
        _process.WaitForExit();
        return _process.ExitCode;
    }

    internal async Task UntilAsync(string tag, HttpStatusCode code)
    {
        long begun = Stopwatch.GetTimestamp();
        using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(10) };
        while (true)
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < s_limit, $"{tag} is not {code}:\n{Output}");
            try
            {
                if (Address is { } address && (await client.GetAsync(new Uri(address, $"/health/{tag}"))).StatusCode == code) return;
            }
            catch (HttpRequestException)
            {
                // It is not there yet, or goes.
            }
            await Task.Delay(5);
        }
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0) return;
        if (!_process.HasExited) _process.Kill(entireProcessTree: true);
        _process.WaitForExit(s_limit);
        _process.Dispose();
    }

    private void Take(string? line)
    {
        if (line is null) return;
        lock (_output) _output.Append(line).Append('\n');
    }

    [GeneratedRegex(@"serving (http://\S+)")]
    private static partial Regex Serving();
}
