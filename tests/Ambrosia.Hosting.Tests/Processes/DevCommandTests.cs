using System.Diagnostics;
using System.Text;
using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>The command <c>ambrosia dev</c> with the program of these tests.</summary>
public sealed partial class DevCommandTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(90);

    [Fact]
    public async Task Dev_ThroughAKillAndToItsEnd_RunsTheAppAndLeavesNothingBehind()
    {
        using var directory = new TemporaryDirectory();
        using var dev = new Dev(directory.Path);
        using var caller = new TillCaller(() => dev.Address);
        await dev.Until(() => dev.Address is not null);
        Assert.Equal("3", await caller.PostAsync("/pay/k1?cents=3"));
        Uri first = dev.Address!;
        dev.Press('k');
        await dev.Until(() => dev.Address is { } address && address != first);
        Assert.Contains("till was killed", dev.Output, StringComparison.Ordinal);
        Assert.Equal("3", await caller.PostAsync("/pay/k1?cents=3"));
        Assert.Equal("5", await caller.PostAsync("/pay/k2?cents=2"));
        Assert.Matches(@"till\s+runs\s+\d+\s+2\s+http://", dev.Output);
        dev.Press('q');
        Assert.True(dev.AwaitEnd() == 0, dev.Output);
        Assert.EndsWith("all that was started has ended\n", dev.Output, StringComparison.Ordinal);
        Assert.Empty(ProcessesOf(directory.Path));
    }

    [Fact]
    public void Dev_OfNothing_SaysWhatToGive()
    {
        using var directory = new TemporaryDirectory();
        using var dev = new Dev(directory.Path, "shop=nowhere");
        Assert.Equal(2, dev.AwaitEnd());
        Assert.Contains("nowhere'; give the folder or file of a project, or a program", dev.Output, StringComparison.Ordinal);
    }

    /// <summary>The processes that have a directory in their environment, as what the command starts has.</summary>
    private static List<string> ProcessesOf(string directory) => [.. Directory.EnumerateDirectories("/proc")
        .Where(path => int.TryParse(Path.GetFileName(path), out _) && EnvironmentOf(path).Contains(directory, StringComparison.Ordinal))];

    private static string EnvironmentOf(string process)
    {
        try
        {
            return File.ReadAllText(Path.Combine(process, "environ"));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return ""; // it has just ended, or is another user's
        }
    }

    /// <summary>The command in a process, which is told to end, and killed if it does not.</summary>
    private sealed partial class Dev : IDisposable
    {
        private readonly StringBuilder _output = new();
        private readonly Process _process;

        internal Dev(string directory, string? app = null)
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

        [GeneratedRegex(@"till \| serving (http://\S+)")]
        private static partial Regex Serving();
    }
}
