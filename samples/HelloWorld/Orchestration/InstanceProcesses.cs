using System.Diagnostics;
using System.Threading.Channels;

namespace HelloWorld.Orchestration;

/// <summary>
/// Runs the processes of one immortal: its coordinator, which starts the app, and reads the lines of both. The thread of the run calls the
/// methods. Lines and ends come on other threads, and go into the run's queue. Nothing that it has started outlives Dispose.
/// </summary>
internal sealed class InstanceProcesses(string name, string logDirectory, ChannelWriter<ProcessEvent> events) : IDisposable
{
    private const int LastLinesMax = 12;

    private readonly Queue<string> _lastLines = new();
    private Process? _coordinator;
    private int _start;

    /// <summary>The app of the last coordinator that was killed. It ends by itself; if it has not, Dispose kills it.</summary>
    private int _orphanId;

    public string Name => name;

    /// <summary>The process id of the coordinator, or 0 where it is not started, or was killed and not yet started again.</summary>
    public int CoordinatorId { get; private set; }

    /// <summary>The process id of the app, or 0 where it is not known yet, or was killed.</summary>
    public int AppId { get; private set; }

    public bool IsUp => CoordinatorId != 0 && AppId != 0;

    /// <summary>The last lines of both processes, without the app's reports.</summary>
    public IEnumerable<string> LastLines => _lastLines;

    public void Start()
    {
        Process process = Executables.Coordinator("--log", logDirectory, "--checkpoint-every", "1M");
        process.StartInfo.ArgumentList.Add("--");
        foreach (string word in Executables.App(name)) process.StartInfo.ArgumentList.Add(word);
        int thisStart = ++_start;
        process.OutputDataReceived += (_, e) => Forward(thisStart, e.Data);
        process.ErrorDataReceived += (_, e) => Forward(thisStart, e.Data);
        process.Exited += (_, _) => events.TryWrite(new ProcessEvent(this, thisStart, null, process.ExitCode));
        _coordinator = process;
        process.Start();
        CoordinatorId = process.Id;
        process.StandardInput.AutoFlush = true;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    /// <summary>Takes an event that was read from the queue. Returns true if it is one of the present processes.</summary>
    public bool Take(ProcessEvent happened)
    {
        if (happened.Start != _start) return false;
        if (happened.Line is not { } line) return true;
        if (line.Split(' ') is ["app", string id] && int.TryParse(id, out int appId)) AppId = appId;
        if (!line.StartsWith(name, StringComparison.Ordinal)) Keep(line);
        return true;
    }

    /// <summary>Writes a line to the app's standard input, which its coordinator passes on. The line is lost if nobody is there.</summary>
    public void Tell(string line)
    {
        // An app that is not up reads nothing: what is told to it would fill the pipe, and then block.
        if (!IsUp) return;
        try
        {
            _coordinator!.StandardInput.WriteLine(line);
        }
        catch (IOException)
        {
        }
    }

    public void KillApp()
    {
        KillProcess(AppId);
        AppId = 0;
    }

    /// <summary>Kills the coordinator. Its app finds the channel closed and ends by itself.</summary>
    public void KillCoordinator()
    {
        CoordinatorId = 0;
        _orphanId = AppId;
        AppId = 0;
        _coordinator?.Kill();
    }

    /// <summary>Starts again after the end of a coordinator that was killed.</summary>
    public void Restart()
    {
        _coordinator?.Dispose();
        Start();
    }

    public void Dispose()
    {
        _start++;
        _coordinator?.Kill();
        _coordinator?.Dispose();
        KillProcess(AppId);
        KillProcess(_orphanId);
    }

    private void Keep(string line)
    {
        if (_lastLines.Count == LastLinesMax) _lastLines.Dequeue();
        _lastLines.Enqueue(line);
    }

    private void Forward(int ofStart, string? line)
    {
        if (line is not null) events.TryWrite(new ProcessEvent(this, ofStart, line));
    }

    private static void KillProcess(int id)
    {
        if (id == 0) return;
        try
        {
            using Process process = Process.GetProcessById(id);
            process.Kill();
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException)
        {
            // It has ended already.
        }
    }
}

/// <summary>An event of the processes: a line that one has written, or the end of the coordinator.</summary>
/// <param name="Start">The start of the coordinator to which it belongs. Late events of an earlier start are ignored.</param>
internal sealed record ProcessEvent(InstanceProcesses Of, int Start, string? Line, int? ExitCode = null);
