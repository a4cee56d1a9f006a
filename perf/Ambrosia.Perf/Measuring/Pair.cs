// Two instances as in production: two coordinators, each with its app, four processes. The apps have their coordinator's standard input
// and output, so commands go in and lines come out through them. Thread: the driver's; lines come on others and go into one queue.
using System.Diagnostics;
using System.Threading.Channels;

namespace Ambrosia.Perf;

/// <summary>The processes of a measurement.</summary>
internal sealed class Pair(CancellationToken stop) : IDisposable
{
    private const string ReadyWord = "ready";

    private readonly Channel<(string Instance, string Line)> lines = Channel.CreateUnbounded<(string, string)>();
    private readonly Dictionary<string, Process> coordinators = [];
    private readonly List<int> appIds = [];
    private readonly Queue<string> lastLines = new();

    /// <summary>Starts both and waits until they are ready.</summary>
    /// <param name="instances">Name of each instance, and the name under which this program is its app.</param>
    /// <exception cref="FailedRoundException">One was not ready in time.</exception>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    public static Pair Start(string logDirectory, TimeSpan limit, CancellationToken stop, params ReadOnlySpan<(string Instance, string App)> instances)
    {
        var pair = new Pair(stop);
        try
        {
            foreach ((string instance, string app) in instances) pair.StartOne(Path.Combine(logDirectory, instance), instance, app);
            var waiting = new HashSet<string>(pair.coordinators.Keys);
            while (waiting.Count > 0) waiting.Remove(pair.Await(ReadyWord, limit).Instance);
            return pair;
        }
        catch
        {
            pair.Dispose();
            throw;
        }
    }

    /// <summary>A command for the app of <paramref name="instance"/>.</summary>
    public void Tell(string instance, string command) => coordinators[instance].StandardInput.WriteLine(command);

    /// <summary>The words of the next line that begins with <paramref name="first"/>; others are passed over.</summary>
    public (string Instance, string[] Words) Await(string first, TimeSpan limit)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(stop);
        late.CancelAfter(limit);
        try
        {
            while (true)
            {
                (string instance, string line) = lines.Reader.ReadAsync(late.Token).AsTask().GetAwaiter().GetResult();
                string[] words = line.Split(' ');
                if (words[0] == first) return (instance, words);
                Pass(instance, line, words);
            }
        }
        catch (OperationCanceledException) when (!stop.IsCancellationRequested)
        {
            throw new FailedRoundException($"no line '{first} …' within {limit.TotalSeconds:F0} s; the last lines were:\n  {string.Join("\n  ", lastLines)}");
        }
    }

    public void Dispose()
    {
        foreach (Process process in coordinators.Values) process.Kill();
        foreach (int id in appIds)
        {
            try
            {
                Process.GetProcessById(id).Kill();
            }
            catch (Exception e) when (e is ArgumentException or InvalidOperationException)
            {
                // It ended with its coordinator.
            }
        }
        foreach (Process process in coordinators.Values)
        {
            process.WaitForExit(TimeSpan.FromSeconds(5));
            process.Dispose();
        }
    }

    private void StartOne(string logDirectory, string instance, string app)
    {
        var start = new ProcessStartInfo(Path.Combine(AppContext.BaseDirectory, "ImmortalCoordinator"))
        {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        foreach (string word in new[] { "--log", logDirectory, "--", Path.Combine(AppContext.BaseDirectory, "Ambrosia.Perf"), "app", app }) start.ArgumentList.Add(word);
        Process process = Process.Start(start) ?? throw new InvalidOperationException("the coordinator was not started");
        coordinators.Add(instance, process);
        process.StandardInput.AutoFlush = true;
        process.OutputDataReceived += (_, e) => Forward(instance, e.Data);
        process.ErrorDataReceived += (_, e) => Forward(instance, e.Data);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    private void Forward(string instance, string? line)
    {
        if (line is not null) lines.Writer.TryWrite((instance, line));
    }

    private void Pass(string instance, string line, string[] words)
    {
        if (words is ["app", string id]) appIds.Add(int.Parse(id));
        // An app that ends here has failed: nobody kills one in a measurement.
        if (line.StartsWith("exit ", StringComparison.Ordinal) || line.StartsWith("app ended", StringComparison.Ordinal)) throw new FailedRoundException($"{instance}: {line}");
        if (lastLines.Count == 16) lastLines.Dequeue();
        lastLines.Enqueue($"{instance}: {line}");
    }
}
