// All processes of a measurement: instances as in production, each a coordinator with its app. Thread: the driver's; lines come on others
// and go into one queue. Whatever was started is killed at the end, by id.
using System.Diagnostics;
using System.Threading.Channels;

namespace Ambrosia.Perf;

/// <summary>The processes of a measurement, and the talk with them.</summary>
internal sealed class Cluster(ClusterOptions options) : IDisposable
{
    private const string ReadyWord = "ready";

    private static readonly TimeSpan s_pollEvery = TimeSpan.FromMilliseconds(5);

    private readonly Channel<Line> _lines = Channel.CreateUnbounded<Line>();
    private readonly List<Member> _members = [];
    private readonly Queue<string> _lastLines = new();
    private int _pokes;

    public ClusterOptions Options => options;

    public IReadOnlyList<Member> Members => _members;

    public Member this[string instance] => _members.First(each => each.Instance == instance);

    /// <summary>Starts members and waits until they are ready.</summary>
    /// <param name="instances">Name of each instance, and the name under which this program is its app.</param>
    /// <exception cref="FailedRoundException">One was not ready in time.</exception>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    public static Cluster Start(ClusterOptions options, params ReadOnlySpan<(string Instance, string App)> instances)
    {
        var cluster = new Cluster(options);
        try
        {
            Directory.CreateDirectory(options.Directory);
            foreach ((string instance, string app) in instances) cluster.Add(instance, "r0", app).Start();
            cluster.AwaitReady(cluster._members);
            return cluster;
        }
        catch
        {
            cluster.Dispose();
            throw;
        }
    }

    /// <summary>A member that is not started yet.</summary>
    /// <param name="own">Its options, where they are others than those of the rest; their directory is the same.</param>
    public Member Add(string instance, string replica, string app, ClusterOptions? own = null)
    {
        var member = new Member(instance, replica, app, own ?? options, line => _lines.Writer.TryWrite(line));
        _members.Add(member);
        return member;
    }

    /// <summary>Kills a member and knows it no more.</summary>
    public void Remove(Member member)
    {
        member.Dispose();
        _members.Remove(member);
    }

    public void Tell(string instance, string command) => this[instance].Tell(command);

    public void AwaitReady(IEnumerable<Member> started)
    {
        var waiting = started.ToHashSet();
        while (waiting.Count > 0) waiting.Remove(Await(line => line.Words[0] == ReadyWord && waiting.Contains(line.From), ReadyWord).From);
    }

    /// <summary>Gives a member an input and waits until it was logged and executed; returns the moment of that.</summary>
    public long Poke(Member member)
    {
        string number = $"{++_pokes}";
        member.Tell($"poke {number}");
        return long.Parse(Await(line => line.From == member && line.Words is ["poked", string n, _] && n == number, "poked").Words[2]);
    }

    /// <summary>Until a second replica has executed what the primary had.</summary>
    public void AwaitFollowing(Member primary, Member second)
    {
        ulong goal = primary.Executed() ?? throw new FailedRoundException($"the primary of {primary.Instance} does not tell its status");
        for (long begun = Stopwatch.GetTimestamp(); second.Executed() is not { } at || at < goal; Thread.Sleep(s_pollEvery))
        {
            options.Stop.ThrowIfCancellationRequested();
            if (Stopwatch.GetElapsedTime(begun) > options.Limit)
                throw new FailedRoundException($"the second replica of {primary.Instance} did not follow within {options.Limit.TotalSeconds:F0} s");
        }
    }

    /// <summary>The next line that begins with <paramref name="first"/>; others are passed over.</summary>
    public Line Await(string first) => Await(line => line.Words[0] == first, first);

    /// <exception cref="FailedRoundException">It did not come in time, or something failed meanwhile.</exception>
    public Line Await(Func<Line, bool> wanted, string what)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(options.Stop);
        late.CancelAfter(options.Limit);
        try
        {
            while (true)
            {
                Line line = _lines.Reader.ReadAsync(late.Token).AsTask().GetAwaiter().GetResult();
                Note(line);
                if (wanted(line)) return line;
            }
        }
        catch (OperationCanceledException) when (!options.Stop.IsCancellationRequested)
        {
            throw new FailedRoundException(
                $"no line '{what} …' within {options.Limit.TotalSeconds:F0} s; the last lines were:\n  {string.Join("\n  ", _lastLines)}");
        }
    }

    /// <summary>What all processes have used and written so far.</summary>
    public Usage Measure(Func<Member, bool>? isReceiver = null)
    {
        var usage = new Usage(0, 0, 0, 0, 0);
        foreach (Member member in _members)
        {
            (long commits, long bytes) = member.Written();
            double cpu = member.CpuSeconds();
            usage += isReceiver?.Invoke(member) == false ? new Usage(cpu, 0, 0, commits, bytes) : new Usage(cpu, commits, bytes, 0, 0);
        }
        return usage;
    }

    /// <summary>Processor time that the runtimes of all processes have spent on compiling hot methods once more.</summary>
    public double CompilationSeconds() => _members.Sum(static member => HubUsage.Of(member).CompilationSeconds);

    public void Dispose()
    {
        foreach (Member member in _members) member.Dispose();
    }

    private void Note(Line line)
    {
        if (!line.IsOfLastStart) return;
        if (line.Words is ["app", string id]) line.From.AppId = int.Parse(id);
        // Whoever is killed in a measurement has a higher generation by then: what ends else has failed.
        if (!line.From.MayEnd
            && (line.Text.StartsWith("exit ", StringComparison.Ordinal) || line.Text.StartsWith("app ended", StringComparison.Ordinal)))
            throw new FailedRoundException($"{line.From.Instance}: {line.Text}");
        if (_lastLines.Count == 16) _lastLines.Dequeue();
        _lastLines.Enqueue($"{line.From.Instance}: {line.Text}");
    }
}
