using System.Collections.Concurrent;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using Ambrosia.TestKit.Catalogs;

namespace Ambrosia.Coordinator.Tests.Hosting;

/// <summary>What happens where the system does not start the app's program: before it has run once, and behind that.</summary>
public sealed class AppSupervisorTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-supervisor-");
    private readonly ConcurrentQueue<(int Code, string Why)> _ends = new();
    private readonly ConcurrentQueue<string> _lines = new();

    private string Program => Path.Combine(_folder.FullName, "app");

    private string Runs => Path.Combine(_folder.FullName, "runs");

    private int RunCount => File.Exists(Runs) ? File.ReadAllLines(Runs).Length : 0;

    public void Dispose() => _folder.Delete(recursive: true);

    /// <summary>A deployment writes the program in place, or takes it away for a moment, just as the app ends.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Start_OfAProgramThatIsReplaced_IsTriedAgainOnceItHasRun(bool isWritten)
    {
        WriteProgram();
        using AppSupervisor supervisor = Supervisor(TimeSpan.FromMinutes(10));
        supervisor.Start();
        Deadline.Await(() => RunCount >= 1, "the first run");
        string gone = Program + ".old";
        using (isWritten ? OpenToWrite() : null)
        {
            if (!isWritten) File.Move(Program, gone);
            Deadline.Await(() => _lines.Any(static line => line.Contains("cannot be started now", StringComparison.Ordinal)), "a line about it");
        }
        if (!isWritten) File.Move(gone, Program);
        int before = RunCount;
        Deadline.Await(() => RunCount > before, "a later run");
        Assert.Empty(_ends);
    }

    [Fact]
    public void Start_OfAProgramThatIsGoneForGood_EndsWith2()
    {
        WriteProgram();
        using AppSupervisor supervisor = Supervisor(TimeSpan.FromMilliseconds(100));
        supervisor.Start();
        Deadline.Await(() => RunCount >= 1, "the first run");
        File.Delete(Program);
        Deadline.Await(() => !_ends.IsEmpty, "the end");
        Assert.Equal(ExitCodes.Misuse, _ends.First().Code);
        Assert.Contains("for 0 s by now", _ends.First().Why, StringComparison.Ordinal);
    }

    [Fact]
    public void FirstStart_OfNoProgram_EndsWith2AtOnce()
    {
        using AppSupervisor supervisor = Supervisor(TimeSpan.FromMinutes(10));
        supervisor.Start();
        Deadline.Await(() => !_ends.IsEmpty, "the end");
        Assert.Equal(ExitCodes.Misuse, _ends.First().Code);
        Assert.DoesNotContain("by now", _ends.First().Why, StringComparison.Ordinal);
    }

    /// <summary>A program that is being written when the coordinator starts is not misuse: cp ends soon.</summary>
    [Fact]
    public void FirstStart_OfAProgramThatIsWritten_WaitsForIt()
    {
        WriteProgram();
        using AppSupervisor supervisor = Supervisor(TimeSpan.FromMilliseconds(1));
        using (OpenToWrite())
        {
            supervisor.Start();
            Deadline.Await(() => !_lines.IsEmpty, "a line about it");
        }
        Deadline.Await(() => RunCount >= 1, "the first run");
        Assert.Empty(_ends);
        Assert.Single(_lines, static line => line.Contains("cannot be started now", StringComparison.Ordinal));
    }

    /// <summary>A copy of a real program: a script's file may be written while it is started, a program's may not (ETXTBSY).</summary>
    private void WriteProgram()
    {
        File.Copy("/bin/sh", Program);
        File.SetUnixFileMode(Program, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    private FileStream OpenToWrite()
    {
        FileStream? opened = null;
        // A program that runs can be written as little as one that is written can be run.
        Deadline.Await(() =>
        {
            try
            {
                opened = new FileStream(Program, FileMode.Open, FileAccess.ReadWrite);
                return true;
            }
            catch (IOException)
            {
                return false;
            }
        }, "the program's end");
        return opened!;
    }

    private AppSupervisor Supervisor(TimeSpan startableWithin)
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        CoordinatorInputs inputs = node.InputsOf("r0");
        var incidents = new IncidentJournal(inputs, node.Parts, new InMemoryCatalog(static _ => { }), null);
        var command = new AppCommand([Program, "-c", $"echo run >> {Runs}; sleep 0.05"], new Dictionary<string, string>())
        {
            StartableWithin = startableWithin,
        };
        return new AppSupervisor(command, static () => Lsn.Zero, incidents, EventRecorder.OfTexts(_lines.Enqueue),
            (code, why) => _ends.Enqueue((code, why)))
        {
            IsLive = static () => false,
        };
    }
}
