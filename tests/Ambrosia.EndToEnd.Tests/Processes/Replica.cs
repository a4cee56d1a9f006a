using System.Diagnostics;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.EndToEnd.App;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// One instance's coordinator process and the app that it starts: started, killed and started again on the same directory. Used by one
/// test's thread; the lines come on others. Knows the ids of all processes it ever started, so that none is left.
/// </summary>
internal sealed class Replica : IDisposable
{
    private const string AppLine = "app ";

    private static readonly string[] s_format = ["--log-format", "json"];
    private static readonly IFileSystem s_files = new PosixFileSystem();

    private readonly string _root;
    private readonly List<Process> _started = [];

    public Replica(string root, string name, string role)
    {
        _root = root;
        Role = role;
        Name = name;
        Lines = new LineLog(name);
    }

    public string Name { get; }

    /// <summary>What its app is.</summary>
    public string Role { get; set; }

    public string LogDirectory => Path.Combine(_root, Name);

    /// <summary>Where its processes start; the directory above its log, unless it is given.</summary>
    public string? WorkingDirectory { get; init; }

    /// <summary>Coordinator and app are one process; the role may be several, with commas.</summary>
    public bool IsEmbedded { get; init; }

    /// <summary>The program of its app.</summary>
    public string App { get; set; } = Executables.App;

    /// <summary>The coordinator's program.</summary>
    public string Program { get; set; } = Executables.Coordinator;

    /// <summary>The settings of the app and the coordinator.</summary>
    public Dictionary<string, string> Settings { get; } = [];

    /// <summary>A program that the coordinator starts in place of the app, with its arguments; it starts the app.</summary>
    public string[] AppWrapper { get; set; } = [];

    /// <summary>Options of the coordinator behind --log.</summary>
    public List<string> Options { get; } = [];

    public LineLog Lines { get; }

    /// <summary>Where the lines of the coordinator, or app, begin that was started last.</summary>
    public int StartedAt { get; private set; }

    public Process Coordinator => _started.Count > 0 ? _started[^1] : throw new InvalidOperationException($"{Name} was not started");

    public bool HasStarted => _started.Count > 0;

    public bool IsRunning => _started.Count > 0 && !Coordinator.HasExited;

    /// <summary>Starts the coordinator.</summary>
    /// <param name="crashAt">Crash point and pass at which it kills itself.</param>
    /// <param name="withApp">It starts the app, too.</param>
    /// <param name="wrapper">A program in front, with its arguments (strace).</param>
    public Replica Start(string? crashAt = null, bool withApp = true, params string[] wrapper)
    {
        var settings = new Dictionary<string, string>(Settings);
        if (crashAt is not null) settings["AMBROSIA_CRASH_AT"] = crashAt;
        string[] app = withApp ? ["--", .. AppWrapper, App, Role] : [];
        string[] command = IsEmbedded ? [Executables.App, "host", Role, "--log", LogDirectory, .. s_format, .. Options]
            : [.. wrapper, Program, "--log", LogDirectory, .. s_format, .. Options, .. app];
        StartedAt = Lines.Count;
        Run(command, settings);
        return this;
    }

    /// <summary>Starts the app by hand, as a user with AMBROSIA_APP and AMBROSIA_TOKEN would.</summary>
    /// <param name="wrapper">A program in front, with its arguments.</param>
    public Process StartApp(string appChannel, string tokenPath, params string[] wrapper)
    {
        Process coordinator = Coordinator;
        Process app = Run([.. wrapper, Executables.App, Role],
            new Dictionary<string, string>(Settings) { ["AMBROSIA_APP"] = appChannel, ["AMBROSIA_TOKEN"] = tokenPath });
        _started.Add(coordinator); // stays the last
        return app;
    }

    private Process Run(string[] command, Dictionary<string, string> settings)
    {
        var process = new Process { StartInfo = Executables.StartOf(command[0], command[1..], settings, WorkingDirectory ?? _root) };
        process.OutputDataReceived += (_, line) => Take(line.Data);
        process.ErrorDataReceived += (_, line) => Take(line.Data);
        process.Start();
        _started.Add(process);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        return process;
    }

    /// <summary>Of an event of a coordinator the text counts; what the app writes comes between.</summary>
    private void Take(string? line)
    {
        if (line is not null) Lines.Add(CoordinatorLine.TextOf(line, alone: IsEmbedded ? Name : null));
    }

    /// <summary>Waits until the coordinator that runs now has said that it is ready.</summary>
    public string AwaitReady() => AwaitLine("ready line", static line => line.StartsWith("ready ", StringComparison.Ordinal));

    /// <summary>Waits for a line of the coordinator, or app, that was started last.</summary>
    public string AwaitLine(string what, Func<string, bool> wanted, TimeSpan? patience = null) =>
        Lines.Await(what, wanted, StartedAt, patience ?? Cluster.Patience);

    /// <summary>The app that printed its id last and still runs; null: none does.</summary>
    public int? AppId =>
        Lines.FindLast(static line => IsAppLine(line)) is { } line && int.Parse(line[AppLine.Length..]) is var id && IsOurApp(id)
        ? id : null;

    /// <summary>The coordinator that was started last has started an app.</summary>
    public bool HasStartedApp => Lines.From(StartedAt).Any(IsAppLine);

    /// <summary>Every app that it ever started and that still runs.</summary>
    public IReadOnlyList<int> RunningApps =>
        [.. Lines.From(0).Where(IsAppLine).Select(static line => int.Parse(line[AppLine.Length..])).Where(IsOurApp).Distinct()];

    private static bool IsAppLine(string line) =>
        line.StartsWith(AppLine, StringComparison.Ordinal) && int.TryParse(line[AppLine.Length..], out _);

    /// <summary>An id may have gone to somebody else meanwhile.</summary>
    private static bool IsOurApp(int id)
    {
        try
        {
            return File.ReadAllText($"/proc/{id}/cmdline").Contains(Executables.AppName, StringComparison.Ordinal);
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>kill -9 to the coordinator; comes back when it is gone. Its app then ends by itself.</summary>
    public void KillCoordinator()
    {
        if (!IsRunning) return;
        Signals.Kill(Coordinator.Id);
        AwaitExit();
    }

    /// <summary>SIGTERM to the coordinator; comes back when it has ended in order.</summary>
    public void StopCoordinator()
    {
        Signals.Terminate(Coordinator.Id);
        if (AwaitExit() is not 0 and var code) throw new InvalidOperationException($"{Name} ended with {code}.\n{Lines}");
    }

    /// <summary>
    /// kill -9 to the app, at once or as soon as its coordinator has started one; from then on the next one's lines are awaited.
    /// </summary>
    public void KillApp()
    {
        if (IsRunning) Cluster.Await($"{Name} has an app", () => HasStartedApp && AppId is not null);
        if (AppId is not { } id) return;
        StartedAt = Lines.Count;
        Signals.Kill(id);
    }

    /// <summary>The exit code of the coordinator, which is about to end.</summary>
    public int AwaitExit(TimeSpan? patience = null)
    {
        if (!Coordinator.WaitForExit(patience ?? Cluster.Patience)) throw new TimeoutException($"{Name} has not ended.\n{Lines}");
        return Coordinator.ExitCode;
    }

    /// <summary>What the coordinator says of itself (protocol P9.5); null: it says nothing at the moment.</summary>
    public JsonObject? Status(string replica = "r0")
    {
        try
        {
            return AdminClient.Ask(s_files, LogDirectory, replica, new JsonObject { ["command"] = "status" }, Cluster.Patience)
                .LastOrDefault();
        }
        catch (AdminUnreachableException)
        {
            return null;
        }
    }

    /// <summary>Waits until its coordinator has made more durable than it has now.</summary>
    public void AwaitRecords(string when)
    {
        ulong durable = DurableEnd();
        Cluster.Await($"records of {Name} {when}", () => DurableEnd() > durable);
    }

    private ulong DurableEnd() => (ulong?)Status()?["log"]?["durable"] ?? 0;

    /// <summary>Resident memory of the coordinator in bytes.</summary>
    public long ResidentBytes() => MemoryBytes("VmRSS:");

    /// <summary>The most that its resident memory ever was.</summary>
    public long PeakBytes() => MemoryBytes("VmHWM:");

    private long MemoryBytes(string what)
    {
        string line = File.ReadLines($"/proc/{Coordinator.Id}/status").First(l => l.StartsWith(what, StringComparison.Ordinal));
        return long.Parse(line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[1]) << 10;
    }

    public void Dispose()
    {
        foreach (Process process in _started.Distinct())
            if (!process.HasExited) Signals.Kill(process.Id);
        foreach (int app in RunningApps) Signals.Kill(app);
        foreach (Process process in _started.Distinct())
        {
            process.WaitForExit(Cluster.Patience);
            process.Dispose();
        }
    }
}
