using System.Diagnostics;
using Ambrosia.Protocol.Runs;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

/// <summary>Runs the tool as users start it: as a process, in pipes, beside a writer.</summary>
[Collection(LocksCollection.Name)]
public sealed class ProcessTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    [Theory]
    [InlineData(ToolExit.Fine, "log", "LOG")]
    [InlineData(ToolExit.Fine, "verify", "LOG", "--json")]
    [InlineData(ToolExit.Misuse, "verify", "NONE")]
    [InlineData(ToolExit.Misuse, "nonsense")]
    [InlineData(ToolExit.Fine, "--help")]
    [InlineData(ToolExit.Fine, "--version")]
    public void Process_Command_EndsWithItsCode(int code, params string[] args)
    {
        using var temporary = new TemporaryDirectory();
        SampleLog.Make(temporary.Of("log"));
        using Process process = Start(
            [.. args.Select(arg => arg switch { "LOG" => temporary.Of("log"), "NONE" => temporary.Of("none"), _ => arg })]);
        string output = process.StandardOutput.ReadToEnd();

        Assert.True(process.WaitForExit(s_limit));
        Assert.Equal(code, process.ExitCode);
        Assert.Equal(code != ToolExit.Misuse, output.Length > 0);
        Assert.DoesNotContain('\u001b', output);
    }

    [Fact]
    public void Process_WhoseReaderHasEnough_Ends()
    {
        using var temporary = new TemporaryDirectory();
        using (LogMaker maker = LogMaker.Start(temporary.Of("log")))
        {
            maker.Peer(1, "ada");
            for (int i = 0; i < 100; i++)
            {
                maker.Run(MessageKind.Fork, 1, [.. Enumerable.Repeat(Message.Of(5, [1]), 1_000)]);
                maker.Commit();
            }
        }
        using Process process = Start("log", temporary.Of("log"), "--records"); // megabytes of text, of which a line is read
        Assert.Contains("peer", process.StandardOutput.ReadLine());
        process.StandardOutput.Close();

        Assert.True(process.WaitForExit(s_limit), "it goes on although nobody reads");
        Assert.Equal(ToolExit.Fine, process.ExitCode);
    }

    [Fact]
    public async Task Process_OnALogThatIsWrittenMeanwhile_FindsNoDamage()
    {
        using var temporary = new TemporaryDirectory();
        string log = temporary.Of("log");
        using var stop = new CancellationTokenSource();
        using var begun = new ManualResetEventSlim();
        using LogMaker maker = LogMaker.Start(log);
        maker.Peer(1, "ada");
        Task writing = Task.Run(() =>
        {
            for (int i = 0; !stop.IsCancellationRequested; i++)
            {
                maker.Run(MessageKind.Fork, 1, [.. Enumerable.Repeat(Message.Of(5, new byte[50]), 1 + i % 9)]);
                maker.Commit();
                begun.Set();
            }
        });
        Assert.True(begun.Wait(s_limit));
        try
        {
            for (int i = 0; i < 2; i++)
            {
                foreach (string[] args in (string[][])[["verify", log], ["log", log, "--records", "--tail", "5"], ["log", log]])
                {
                    using Process process = Start(args);
                    string output = process.StandardOutput.ReadToEnd();
                    Assert.True(process.WaitForExit(s_limit));
                    Assert.True(process.ExitCode == ToolExit.Fine, output);
                }
            }
        }
        finally
        {
            stop.Cancel();
            await writing;
        }
    }

    /// <summary>A cut holds what its log holds: nobody but its owner reads any file of it, masked or not, whatever the umask.</summary>
    [Theory]
    [InlineData]
    [InlineData("--mask", "$failure")]
    public void Process_Cut_UnderUmask0_IsForItsOwnerAlone(params string[] mask)
    {
        using var temporary = new TemporaryDirectory();
        string log = temporary.Of("log"), cut = temporary.Of("cut");
        SecretLog.Make(log, 7);
        File.WriteAllText(Path.Combine(log, "divergence.r0"),
            """{"time":1,"replica":"r0","appVersion":1,"lsn":4096,"index":null,"build":null,"from":1,"to":2,"ofState":true,"why":"no"}""");
        using Process process = StartIn("umask 0; exec \"$0\" \"$@\"", ["cut", log, "--around", "end", "--out", cut, .. mask]);
        process.StandardOutput.ReadToEnd();

        Assert.True(process.WaitForExit(s_limit));
        Assert.Equal(ToolExit.Fine, process.ExitCode);
        const UnixFileMode OfFiles = UnixFileMode.UserRead | UnixFileMode.UserWrite, OfDirectories = OfFiles | UnixFileMode.UserExecute;
        FileSystemInfo[] all = new DirectoryInfo(cut).GetFileSystemInfos("*", SearchOption.AllDirectories);
        Assert.Contains(all, static each => each.Name == "divergence.r0");
        Assert.Contains(all, static each => each.Name == "cut.json");
        Assert.Equal(OfDirectories, new DirectoryInfo(cut).UnixFileMode);
        Assert.All(all, static each => Assert.Equal(each is DirectoryInfo ? OfDirectories : OfFiles, each.UnixFileMode));
    }

    private static Process Start(params string[] args) => StartIn("exec \"$0\" \"$@\"", args);

    private static Process StartIn(string shell, string[] args)
    {
        var start = new ProcessStartInfo("sh", ["-c", shell, Path.Combine(AppContext.BaseDirectory, "ambrosia"), .. args])
        {
            RedirectStandardOutput = true, RedirectStandardError = true
        };
        Process process = Process.Start(start)!;
        process.ErrorDataReceived += static (_, _) => { };
        process.BeginErrorReadLine();
        return process;
    }
}
