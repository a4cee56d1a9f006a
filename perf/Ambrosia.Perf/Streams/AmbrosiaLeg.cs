// Our own leg of a stream: rounds over the processes of a plan, and rounds with processes killed in the middle. A round counts only if
// every lane's count, bytes and order are right at its receiver.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>Ambrosia as it is measured: the processes of a plan.</summary>
internal sealed class AmbrosiaLeg : IStreamLeg, IDisposable
{
    private const string UsualName = "ambrosia";

    private readonly Lazy<Cluster> _started;
    private readonly ClusterOptions _options;
    private readonly StreamPlan _plan;
    private readonly TimeSpan? _impulseEvery;
    private int _round;

    /// <param name="impulseEvery">An impulse so often at the first receiver while a round runs; null: none.</param>
    /// <param name="name">Another one when we are our own rival; then its logs go when it ends.</param>
    public AmbrosiaLeg(ClusterOptions options, StreamPlan plan, TimeSpan? impulseEvery = null, string name = UsualName)
    {
        Name = name;
        _options = options;
        _plan = plan;
        _impulseEvery = impulseEvery;
        _started = new Lazy<Cluster>(Start);
    }

    private Cluster Start()
    {
        Cluster cluster = Cluster.Start(_options, _plan.Instances);
        if (_options.HasStandbys) AddStandbys(cluster);
        return cluster;
    }

    /// <summary>From now on each receiver has a second replica, which has executed what there was.</summary>
    public void AddStandbys() => AddStandbys(Cluster);

    private void AddStandbys(Cluster cluster)
    {
        foreach ((string instance, string app) in _plan.Instances.Where(each => _plan.IsReceiver(each.Instance)))
        {
            Member primary = cluster[instance];
            Member second = cluster.Add(instance, "r1", app);
            second.Start();
            cluster.AwaitFollowing(primary, second);
        }
    }

    public string Name { get; }

    public string Durability => _options.Durability;

    public int BytesMax => Sizes.BytesMax;

    /// <summary>Started when it is first needed.</summary>
    public Cluster Cluster => _started.Value;

    /// <summary>Makes the state of each receiver so large.</summary>
    public void Hold(long bytes)
    {
        foreach (string receiver in _plan.Lanes.Select(static lane => lane.Receiver).Distinct())
        {
            Cluster.Tell(receiver, $"hold {bytes}");
            Cluster.Await(line => line.Text == $"holds {bytes}" && line.From.Instance == receiver, "holds");
        }
    }

    public StreamRound Run(int bytes, long messages) => Run(bytes, messages, null);

    /// <param name="hub">One of whose use of the processor the round tells apart.</param>
    public StreamRound Run(int bytes, long messages, Member? hub)
    {
        long each = Math.Max(1, messages / _plan.Lanes.Count);
        Usage before = Measure();
        if (_impulseEvery is { } every) Cluster.Tell(_plan.Lanes[0].Receiver, $"tick {every.TotalMicroseconds:F0}");
        HubUsage hubBefore = HubUsage.Of(hub); // last, and first at the end: asking so many takes a while, in which only clocks tick
        Begin(bytes, each);
        double seconds = AwaitEnd(bytes, each);
        HubUsage hubUsed = HubUsage.Of(hub) - hubBefore;
        Latencies? impulses = _impulseEvery is null ? null : AwaitImpulses();
        return new StreamRound(each * _plan.Lanes.Count, bytes, seconds, Measure() - before) { Impulses = impulses, Hub = hubUsed };
    }

    /// <summary>
    /// A round in whose middle processes are killed by kill -9 and started again; it must end with the same totals. A kill that came after
    /// the end proves nothing: then the round is run again with twice the messages.
    /// </summary>
    public KilledRound RunKilled(int bytes, long messages, KillTarget target)
    {
        const int triesMax = 8;
        for (int i = 0; i < triesMax; i++, messages *= 2)
        {
            long each = Math.Max(2, messages / _plan.Lanes.Count);
            Begin(bytes, each);
            Cluster.Await(line => line.Words is ["half", string of, ..] && of == $"{_round}", "half");
            long killed = Stopwatch.GetTimestamp();
            Member[] victims = [.. Cluster.Members.Where(member => Hits(target, member))];
            foreach (Member victim in victims) victim.Kill();
            foreach (Member victim in victims) victim.Start();
            AwaitEnd(bytes, each, killed, out bool wasInTheMiddle, out double lastTicks);
            AwaitAlive(victims);
            if (wasInTheMiddle) return new KilledRound(target, each * _plan.Lanes.Count, bytes, (lastTicks - killed) / Stopwatch.Frequency);
        }
        throw new FailedRoundException($"{triesMax} rounds ended before their middle was reported: give more --bytes");
    }

    public void Dispose()
    {
        if (!_started.IsValueCreated) return;
        Cluster.Dispose();
        if (Name != UsualName && Directory.Exists(_options.Directory)) Directory.Delete(_options.Directory, recursive: true);
    }

    private bool Hits(KillTarget target, Member member) => target switch
    {
        KillTarget.Receivers => _plan.IsReceiver(member.Instance),
        KillTarget.Senders => _plan.Lanes.Any(lane => lane.Sender == member.Instance),
        _ => true,
    };

    private Usage Measure() => Cluster.Measure(member => _plan.IsReceiver(member.Instance));

    private void Begin(int bytes, long each)
    {
        _round++;
        foreach (var lanes in _plan.Lanes.Select(static (lane, number) => (lane.Sender, lane.Receiver, Number: number))
            .GroupBy(static lane => lane.Sender))
            Cluster.Tell(lanes.Key,
                $"stream {_round} {each} {bytes} {_plan.Turn} {string.Join(',', lanes.Select(static lane => $"{lane.Number}:{lane.Receiver}"))}");
    }

    private double AwaitEnd(int bytes, long each) => AwaitEnd(bytes, each, 0, out _, out _);

    /// <summary>Seconds from the first message to the last; which of both lines of a lane comes first does not matter.</summary>
    private double AwaitEnd(int bytes, long each, long killed, out bool wasInTheMiddle, out double lastTicks)
    {
        var begun = new HashSet<string>();
        var done = new HashSet<string>();
        double first = double.MaxValue;
        lastTicks = 0;
        wasInTheMiddle = false;
        // Who is killed replays, and says again what it said: the first of each counts.
        while (begun.Count < (killed == 0 ? _plan.Lanes.Count : 0) || done.Count < _plan.Lanes.Count)
        {
            Line line = Cluster.Await(line => line.Words is ["begun" or "done", string of, ..] && of == $"{_round}", "done");
            switch (line.Words)
            {
                case ["begun", _, string lane, string ticks]:
                    if (begun.Add(lane)) first = Math.Min(first, long.Parse(ticks));
                    break;
                case ["done", _, string lane, string count, string total, string disorder, string ticks]:
                    if (!done.Add(lane)) break;
                    RoundTotals.Check(count, total, disorder, each, bytes);
                    lastTicks = Math.Max(lastTicks, long.Parse(ticks));
                    wasInTheMiddle |= long.Parse(ticks) > killed;
                    break;
                default: throw new FailedRoundException($"'{line.Text}' is no beginning or end of a round");
            }
        }
        return (lastTicks - first) / Stopwatch.Frequency;
    }

    private Latencies AwaitImpulses()
    {
        string receiver = _plan.Lanes[0].Receiver;
        Cluster.Tell(receiver, "tickless");
        long sent = long.Parse(Cluster.Await("ticks").Words[1]);
        string[] words = Cluster.Await("ticked").Words;
        if (long.Parse(words[1]) != sent) throw new FailedRoundException($"{words[1]} of {sent} impulses were handled");
        return Latencies.Parse(words.AsSpan(2));
    }

    /// <summary>Whoever was killed answers to a new input, so the next round finds everybody at work.</summary>
    private void AwaitAlive(IReadOnlyList<Member> victims)
    {
        foreach (Member victim in victims) Cluster.Poke(victim);
    }
}
