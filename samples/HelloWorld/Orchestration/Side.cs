// One immortal seen from outside: its coordinator, which starts the app, and the lines of both. Methods are called by the run's thread;
// lines and ends come on other threads and go into the run's queue as they are. Invariant: nothing that it started outlives Dispose.
using System.Diagnostics;
using System.Threading.Channels;

namespace HelloWorld.Orchestration;

internal sealed class Side(string name, string logDirectory, ChannelWriter<SideEvent> events) : IDisposable
{
    private const int LastLinesMax = 12;

    private readonly Queue<string> lastLines = new();
    private Process? coordinator;
    private int start;

    /// <summary>The app of the last coordinator that was killed; it ends by itself, and is killed at the end if it did not.</summary>
    private int orphanId;

    public string Name => name;

    /// <summary>0: not started, or killed and not yet started again.</summary>
    public int CoordinatorId { get; private set; }

    /// <summary>0: not known yet, or killed.</summary>
    public int AppId { get; private set; }

    public bool IsUp => CoordinatorId != 0 && AppId != 0;

    /// <summary>What both processes said last, without the app's reports.</summary>
    public IEnumerable<string> LastLines => lastLines;

    public void Start()
    {
        Process process = Executables.Coordinator("--log", logDirectory, "--checkpoint-every", "1M");
        process.StartInfo.ArgumentList.Add("--");
        foreach (string word in Executables.App(name)) process.StartInfo.ArgumentList.Add(word);
        int thisStart = ++start;
        process.OutputDataReceived += (_, e) => Forward(thisStart, e.Data);
        process.ErrorDataReceived += (_, e) => Forward(thisStart, e.Data);
        process.Exited += (_, _) => events.TryWrite(new SideEvent(this, thisStart, null, process.ExitCode));
        coordinator = process;
        process.Start();
        CoordinatorId = process.Id;
        process.StandardInput.AutoFlush = true;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    /// <summary>An event that was read from the queue. True: it is one of the present processes.</summary>
    public bool Take(SideEvent happened)
    {
        if (happened.Start != start) return false;
        if (happened.Line is not { } line) return true;
        if (line.Split(' ') is ["app", string id] && int.TryParse(id, out int appId)) AppId = appId;
        if (!line.StartsWith(name, StringComparison.Ordinal)) Keep(line);
        return true;
    }

    /// <summary>A line for the app's standard input, which it has from its coordinator. Lost if nobody is there.</summary>
    public void Tell(string line)
    {
        // An app that is not up reads nothing: what is told to it would fill the pipe, and then block.
        if (!IsUp) return;
        try
        {
            coordinator!.StandardInput.WriteLine(line);
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

    /// <summary>Its app finds the channel closed and ends by itself.</summary>
    public void KillCoordinator()
    {
        CoordinatorId = 0;
        orphanId = AppId;
        AppId = 0;
        coordinator?.Kill();
    }

    /// <summary>Behind the end of a coordinator that was killed.</summary>
    public void Restart()
    {
        coordinator?.Dispose();
        Start();
    }

    public void Dispose()
    {
        start++;
        coordinator?.Kill();
        coordinator?.Dispose();
        KillProcess(AppId);
        KillProcess(orphanId);
    }

    private void Keep(string line)
    {
        if (lastLines.Count == LastLinesMax) lastLines.Dequeue();
        lastLines.Enqueue(line);
    }

    private void Forward(int ofStart, string? line)
    {
        if (line is not null) events.TryWrite(new SideEvent(this, ofStart, line));
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
