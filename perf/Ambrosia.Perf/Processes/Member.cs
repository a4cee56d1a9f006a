// One replica of a measurement: a coordinator, and the app that it starts (or one process that is both). The app has the coordinator's
// standard input and output, so commands go in and lines come out through them. Lines come on threads of the runtime;
// everything else is the driver's.
using System.Diagnostics;
using System.Text.Json.Nodes;

namespace Ambrosia.Perf;

/// <summary>A coordinator process with its app. Killed and started again it is the same member with the same log.</summary>
internal sealed class Member(string instance, string replica, string app, ClusterOptions options, Action<Line> take) : IDisposable
{
    private static readonly string s_ownProgram = Path.Combine(AppContext.BaseDirectory, "Ambrosia.Perf");

    private Process? _process;
    private int _generation;

    public string Instance => instance;

    public string Replica => replica;

    public string LogDirectory => Path.Combine(options.Directory, instance);

    /// <summary>Program and arguments of its app.</summary>
    public IReadOnlyList<string> AppWords => options.AppOf(instance) ?? [s_ownProgram, "app", app];

    /// <summary>The same, as one command for the shell.</summary>
    public string AppCommand => $"'{s_ownProgram}' app {app}";

    public int CoordinatorId => _process?.Id ?? throw new InvalidOperationException($"{instance} was not started");

    /// <summary>Of the app that runs now; 0 before its first line.</summary>
    public int AppId { get; set; }

    /// <summary>It may end by itself, because another replica takes its place; else that fails the measurement.</summary>
    public bool MayEnd { get; set; }

    /// <summary>Lines of earlier processes have a lower one.</summary>
    public int Generation => Volatile.Read(ref _generation);

    public void Start()
    {
        var start = new ProcessStartInfo(options.Local switch
        {
            LocalHop.Embedded => s_ownProgram, LocalHop.Hosted => HostedProgram.Path, _ => options.Coordinator,
        })
        {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        // A process that is killed cannot remove the pipes of its debugger from the temporary folder, and its app inherits this.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        if (options.Local == LocalHop.Hosted) start.Environment["DOTNET_TieredPGO"] = "0"; // as this program has it
        foreach (string word in Words()) start.ArgumentList.Add(word);
        AppId = 0; // an embedded one says the id of its coordinator
        int mine = Interlocked.Increment(ref _generation);
        _process = Process.Start(start) ?? throw new InvalidOperationException("the coordinator was not started");
        _process.StandardInput.AutoFlush = true;
        _process.OutputDataReceived += (_, e) => Forward(mine, e.Data);
        _process.ErrorDataReceived += (_, e) => Forward(mine, e.Data);
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    /// <summary>A command for the app.</summary>
    public void Tell(string command) => _process!.StandardInput.WriteLine(command);

    /// <summary>Ends both processes by kill -9, and returns when they are gone.</summary>
    public void Kill()
    {
        if (_process is null) return;
        Signals.Kill(_process.Id);
        if (AppId != 0 && AppId != _process.Id) Signals.Kill(AppId);
        _process.WaitForExit(); // and until its last line was read
        _process.Dispose();
        _process = null;
    }

    /// <summary>Flushes of the log, and bytes written to it, since the coordinator's start.</summary>
    public (long Commits, long Bytes) Written()
    {
        JsonNode log = AdminSocket.Member(Ask("status"), "log");
        return (log["groups"]?.GetValue<long>() ?? 0, log["bytes"]?.GetValue<long>() ?? 0); // one that follows writes nothing
    }

    /// <summary>Position up to which the app has executed; null while the replica begins.</summary>
    public ulong? Executed()
    {
        JsonObject? status = AdminSocket.TryAsk(LogDirectory, replica, "status", options.Limit);
        if (status?["process"]?.GetValue<int>() != CoordinatorId) return null; // not there yet, or what the killed one left
        return status["log"]?["executed"]?.GetValue<ulong>();
    }

    /// <summary>Has a checkpoint made that holds everything durable now, and returns the path of its file.</summary>
    public string Checkpoint() => Path.Combine(LogDirectory, AdminSocket.Member(Ask("checkpoint"), "published").GetValue<string>());

    /// <summary>Processor time of both, from their starts.</summary>
    public double CpuSeconds() => CpuSeconds(out _);

    /// <param name="coordinator">The coordinator's part of it; all of it where one process is both.</param>
    public double CpuSeconds(out double coordinator)
    {
        coordinator = ProcessorTime.OfProcess(CoordinatorId);
        return coordinator + (AppId == CoordinatorId ? 0 : ProcessorTime.OfProcess(AppId));
    }

    public void Dispose() => Kill();

    private JsonObject Ask(string command) => AdminSocket.Ask(LogDirectory, replica, command, options.Limit);

    private List<string> Words()
    {
        if (options.Local == LocalHop.Hosted)
            return [app, instance, $"--Ambrosia:Log={options.Directory}", $"--Ambrosia:Replica={replica}",
                $"--Ambrosia:CheckpointEvery={options.CheckpointEvery}"];
        bool isEmbedded = options.Local == LocalHop.Embedded;
        List<string> words = [.. isEmbedded ? ["embedded", app] : Array.Empty<string>(), "--log", LogDirectory, "--replica", replica,
            "--checkpoint-every", options.CheckpointEvery];
        if (options.Local == LocalHop.Tcp) words.AddRange(["--app-port", "0"]);
        if (options.Local == LocalHop.Rings) words.Add("--app-rings");
        if (options.Log != LogKind.Durable) words.AddRange(["--unsafe-no-flush", "--log-write", "buffered"]);
        words.AddRange(options.OptionsOf(instance));
        if (!isEmbedded) words.AddRange(["--", .. AppWords]);
        return words;
    }

    private void Forward(int of, string? text)
    {
        if (text is not null) take(Line.Of(this, of, text));
    }
}
