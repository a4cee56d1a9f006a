using System.Diagnostics;
using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>A replay that follows a log, with its app. It ends with this.</summary>
internal sealed class FollowingReplay : IDisposable
{
    private const double IdleSeconds = 0.02;

    private static readonly TimeSpan s_step = TimeSpan.FromMilliseconds(300), s_idleMax = TimeSpan.FromSeconds(60),
        s_endMax = TimeSpan.FromSeconds(30);

    private readonly Process _process;

    public FollowingReplay(Process process)
    {
        _process = process;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    /// <summary>Seconds that both have used so far.</summary>
    public double CpuSeconds() => ProcessorTime.OfProcess(_process.Id) + AppIds().Sum(ProcessorTime.OfProcess);

    /// <summary>Returns when it has executed what there is, and waits for more.</summary>
    /// <exception cref="FailedRoundException">It does not come to that.</exception>
    public void AwaitIdle()
    {
        double before = CpuSeconds();
        for (long begun = Stopwatch.GetTimestamp(); ;)
        {
            Thread.Sleep(s_step);
            double now = CpuSeconds();
            if (now - before < IdleSeconds && AppIds().Any()) return;
            before = now;
            if (Stopwatch.GetElapsedTime(begun) > s_idleMax) throw new FailedRoundException("a replay that follows does not come to the end");
        }
    }

    private IEnumerable<int> AppIds()
    {
        foreach (string directory in Directory.EnumerateDirectories("/proc"))
        {
            if (!int.TryParse(Path.GetFileName(directory), NumberStyles.None, CultureInfo.InvariantCulture, out int id)) continue;
            string stat;
            try
            {
                stat = File.ReadAllText(Path.Combine(directory, "stat"));
            }
            catch (IOException)
            {
                continue; // it has ended
            }
            // Behind the name, which may hold anything but ends with the last bracket, stand the state and the parent.
            string[] words = stat[(stat.LastIndexOf(')') + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (words is [_, var parent, ..] && parent == $"{_process.Id}") yield return id;
        }
    }

    public void Dispose()
    {
        Signals.Interrupt(_process.Id);
        if (!_process.WaitForExit(s_endMax)) _process.Kill(entireProcessTree: true);
        _process.WaitForExit();
        _process.Dispose();
    }
}
