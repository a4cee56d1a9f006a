using System.Diagnostics;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>All lines that one replica's processes have written, over all their restarts. Any thread.</summary>
internal sealed class LineLog(string name)
{
    private readonly object _gate = new();
    private readonly List<string> _lines = [];

    public int Count { get { lock (_gate) return _lines.Count; } }

    public void Add(string line)
    {
        lock (_gate)
        {
            _lines.Add(line);
            Monitor.PulseAll(_gate);
        }
    }

    public string[] From(int index)
    {
        lock (_gate) return [.. _lines.Skip(index)];
    }

    public string? Find(Func<string, bool> wanted, int from = 0)
    {
        lock (_gate) return _lines.Skip(from).FirstOrDefault(wanted);
    }

    public string? FindLast(Func<string, bool> wanted, int from = 0)
    {
        lock (_gate) return _lines.Skip(from).LastOrDefault(wanted);
    }

    /// <summary>The first line from <paramref name="from"/> on that is wanted; waits for it.</summary>
    /// <exception cref="TimeoutException">It has not come; the message shows what has.</exception>
    public string Await(string what, Func<string, bool> wanted, int from, TimeSpan patience)
    {
        long begun = Stopwatch.GetTimestamp();
        lock (_gate)
        {
            while (true)
            {
                if (_lines.Skip(from).FirstOrDefault(wanted) is { } found) return found;
                TimeSpan left = patience - Stopwatch.GetElapsedTime(begun);
                if (left <= TimeSpan.Zero || !Monitor.Wait(_gate, left)) break;
            }
            if (_lines.Skip(from).FirstOrDefault(wanted) is { } late) return late;
        }
        throw new TimeoutException($"{name}: no {what} within {patience.TotalSeconds:F0} s.\n{this}");
    }

    public override string ToString()
    {
        lock (_gate) return string.Join('\n', _lines.TakeLast(60).Select(line => $"{name}> {line}"));
    }
}
