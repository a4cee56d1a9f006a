using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Development;

/// <summary>
/// One app under <c>ambrosia dev</c>: it is built, started, and started again when it dies. It owns the process, and a thread that waits
/// for it. Any thread tells it what to do.
/// </summary>
/// <param name="environment">Variables that the app finds beside those of this process.</param>
/// <param name="tell">Takes lines of the app, and of what is done with it. Any thread calls it.</param>
internal sealed partial class DevApp(DevProject project, IReadOnlyDictionary<string, string> environment, Action<string> tell)
{
    private const int Terminate = 15;

    /// <summary>The app that dies at once again and again is started after ever longer pauses.</summary>
    private static readonly TimeSpan s_pauseMax = TimeSpan.FromSeconds(5), s_livesLong = TimeSpan.FromSeconds(10),
        s_grace = TimeSpan.FromSeconds(60);

    private readonly DevAppLines _lines = new(tell);
    private readonly AutoResetEvent _wake = new(false);
    private Thread? _thread;
    private volatile Process? _process;
    private volatile bool _ends, _mustBuild = project.IsSource;

    private int _starts;

    public string Name => project.Name;

    /// <summary>The state in which it is, for people.</summary>
    public string State { get; private set; } = "begins";

    public int? ProcessId { get; private set; }

    /// <summary>So often it was started.</summary>
    public int Starts => _starts;

    /// <summary>Where its web server listens; null: it has said nothing of one.</summary>
    public string? Address => _lines.Address;

    /// <summary>Hears that something of the above has changed.</summary>
    public Action Changed { get => _lines.Changed; set => _lines.Changed = value; }

    public void Start()
    {
        _thread = new Thread(Loop) { Name = $"app {Name}", IsBackground = true };
        _thread.Start();
    }

    /// <summary>Kills the process as kill -9 does; false: none runs.</summary>
    public bool Kill()
    {
        if (_process is not { } process) return false;
        try
        {
            process.Kill();
            return true;
        }
        catch (InvalidOperationException)
        {
            return false; // it has just ended by itself
        }
    }

    /// <summary>Stops the process in order, builds the app again, and starts it.</summary>
    public void Rebuild()
    {
        _mustBuild = project.IsSource;
        Ask();
        _wake.Set();
    }

    /// <summary>Begins the end of the app.</summary>
    public void End()
    {
        _ends = true;
        Ask();
        _wake.Set();
    }

    /// <summary>Waits for the end, and kills what does not come to it.</summary>
    public void AwaitEnd()
    {
        if (_thread?.Join(s_grace) != false) return;
        _process?.Kill(entireProcessTree: true);
        _thread.Join();
    }

    /// <summary>Asks the process to end in order.</summary>
    private void Ask()
    {
        if (ProcessId is { } process) _ = SendSignal(process, Terminate);
    }

    private void Loop()
    {
        TimeSpan pause = TimeSpan.Zero;
        while (!_ends)
        {
            if (_mustBuild && !Build()) continue;
            long begun = Stopwatch.GetTimestamp();
            if (RunOnce() is not { } code) continue;
            if (_ends || _mustBuild) continue;
            if (code == ExitCodes.Misuse) MeetRefusal();
            else if (code == ExitCodes.Divergence) MeetDivergence();
            else
            {
                pause = Stopwatch.GetElapsedTime(begun) > s_livesLong ? TimeSpan.Zero : Longer(pause);
                Show($"died with {code}");
                _wake.WaitOne(pause);
            }
        }
        Show("ended");
    }

    private static TimeSpan Longer(TimeSpan pause) =>
        pause == TimeSpan.Zero ? TimeSpan.FromMilliseconds(50) : pause * 2 < s_pauseMax ? pause * 2 : s_pauseMax;

    private bool Build()
    {
        Show("is built");
        _mustBuild = false;
        if (project.Build(_lines.Tell)) return true;
        _mustBuild = true;
        Show("cannot be built; 'r' tries it again");
        _wake.WaitOne();
        return false;
    }

    /// <summary>Runs the app to its end; null: it could not be started.</summary>
    private int? RunOnce()
    {
        try
        {
            using Process process = StartProcess();
            (_process, ProcessId) = (process, process.Id);
            _starts++;
            if (_ends) Ask();
            Show("runs");
            process.WaitForExit();
            (_process, ProcessId) = (null, null);
            _lines.End();
            return process.ExitCode;
        }
        catch (Exception e) when (e is Win32Exception or ToolMisuse)
        {
            _lines.Tell(e.Message);
            Show("cannot be started; 'r' tries it again");
            _wake.WaitOne();
            return null;
        }
    }

    private Process StartProcess()
    {
        string[] command = project.Command();
        var start = new ProcessStartInfo(command[0], command[1..])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        foreach ((string name, string value) in environment) start.Environment[name] = value;
        if (_lines.Accepted is { } build) start.Environment["Ambrosia__AcceptBuild"] = build;
        _lines.Begin();
        var process = new Process { StartInfo = start };
        process.OutputDataReceived += (_, line) => _lines.Take(line.Data);
        process.ErrorDataReceived += (_, line) => _lines.Take(line.Data);
        process.Start();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        return process;
    }

    /// <summary>
    /// An edit behind a kill makes recorded inputs be executed otherwise. While one develops that is what one wants; any other refusal
    /// waits for the developer.
    /// </summary>
    private void MeetRefusal()
    {
        if (_lines.TryAccept()) return;
        Show("refuses to run; 'r' builds it again");
        _wake.WaitOne();
    }

    /// <summary>To start it again would end as this did: the developer decides between the code that ran before and a new log.</summary>
    private void MeetDivergence()
    {
        _lines.Tell(
            "its log has other calls or answers than it makes now: put the code back that ran before, and 'r' goes on; or end this, and remove its log");
        Show("has diverged; 'r' builds it again");
        _wake.WaitOne();
    }

    private void Show(string state)
    {
        State = state;
        Changed();
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int SendSignal(int process, int signal);
}
