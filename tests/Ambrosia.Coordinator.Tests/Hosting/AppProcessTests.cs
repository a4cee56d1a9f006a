using System.ComponentModel;
using System.Diagnostics;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests.Hosting;

/// <summary>The app's process and what it has started come and go together.</summary>
public sealed class AppProcessTests : IDisposable
{
    private static readonly Dictionary<string, string> s_noVariables = [];
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-app-");

    private string Note => Path.Combine(_folder.FullName, "note");

    public void Dispose() => _folder.Delete(recursive: true);

    [Theory]
    [InlineData("exit 0", 0)]
    [InlineData("exit 74", 74)]
    [InlineData("kill -9 $$", 137)]
    [InlineData("kill -PIPE $$", 141)] // ignored here, and not inherited
    public void AwaitEnd_ProgramEnds_GivesItsCode(string command, int code)
    {
        AppProcess process = AppProcess.Start(["sh", "-c", command], s_noVariables);
        Assert.Equal(code, process.AwaitEnd());
        Assert.True(process.HasEndedWithin(TimeSpan.Zero));
        process.Kill(); // nobody is meant any more
    }

    [Fact]
    public void Start_WithVariables_TheyStandOverThoseOfThisProcess()
    {
        string inherited = Environment.GetEnvironmentVariable("PATH")!;
        AppProcess process = AppProcess.Start(["sh", "-c", "echo \"$HOME|$PATH|$1\" > \"$AMBROSIA_NOTE\"", "sh", "an ärgument"],
            new Dictionary<string, string> { ["HOME"] = "/nowhere", ["AMBROSIA_NOTE"] = Note });
        Assert.Equal(0, process.AwaitEnd());
        Assert.Equal($"/nowhere|{inherited}|an ärgument", File.ReadAllText(Note).TrimEnd());
    }

    [Fact]
    public void Start_NoSuchProgram_SaysWhy()
    {
        Assert.Throws<Win32Exception>(() => AppProcess.Start(["/no/such/program"], s_noVariables));
        File.WriteAllText(Note, "no program");
        Assert.Throws<Win32Exception>(() => AppProcess.Start([Note], s_noVariables));
    }

    [Fact]
    public void Terminate_ProgramThatDoesNotListen_IsKilledWithWhatItStarted()
    {
        AppProcess process = AppProcess.Start(["sh", "-c", $"trap '' TERM; sleep 1000 & echo $! > {Note}.new; mv {Note}.new {Note}; wait; wait"],
            s_noVariables);
        int child = AwaitChild();
        Deadline.Await(() => CommandOf(child).StartsWith("sleep", StringComparison.Ordinal), "the child's own program");
        process.Terminate();
        Assert.True(IsRunning(child)); // it has inherited the trap
        process.Kill();
        Assert.Equal(137, process.AwaitEnd());
        Deadline.Await(() => !IsRunning(child), "the end of the child");
    }

    [Fact]
    public void AwaitEnd_ProgramLeavesAnotherBehind_ThatEndsToo()
    {
        AppProcess process = AppProcess.Start(["sh", "-c", $"sleep 1000 & echo $! > {Note}"], s_noVariables);
        Assert.Equal(0, process.AwaitEnd());
        int child = AwaitChild();
        Deadline.Await(() => !IsRunning(child), "the end of the child");
    }

    private int AwaitChild()
    {
        Deadline.Await(() => File.Exists(Note) && File.ReadAllText(Note).EndsWith('\n'), "the note");
        return int.Parse(File.ReadAllText(Note));
    }

    private static bool IsRunning(int process) => CommandOf(process).Contains("sleep", StringComparison.Ordinal);

    /// <summary>
    /// A process that has ended and that nobody has waited for has no command line; nor has one for a moment that becomes another program.
    /// </summary>
    private static string CommandOf(int process)
    {
        try
        {
            return File.ReadAllText($"/proc/{process}/cmdline");
        }
        catch (IOException)
        {
            return "";
        }
    }
}
