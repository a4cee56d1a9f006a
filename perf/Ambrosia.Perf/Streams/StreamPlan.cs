namespace Ambrosia.Perf;

/// <summary>Who sends to whom in a round.</summary>
/// <param name="Lanes">By number: the sender and the receiver of each.</param>
internal sealed record StreamPlan(IReadOnlyList<(string Sender, string Receiver)> Lanes)
{
    private const string App = "stream-end";

    /// <summary>Messages that a sender of several lanes sends on one before it goes on to the next.</summary>
    public int Turn { get; init; } = 256;

    public static StreamPlan OneWay { get; } = new([("sender", "receiver")]);

    public static StreamPlan Bidirectional { get; } = new([("left", "right"), ("right", "left")]);

    /// <summary>So many senders with one receiver.</summary>
    public static StreamPlan Jobs(int senders) => new([.. Enumerable.Range(1, senders).Select(static i => ($"sender{i}", "receiver"))]);

    /// <summary>One sender with so many receivers, to each in its turn.</summary>
    public static StreamPlan Destinations(int receivers) =>
        new([.. Enumerable.Range(1, receivers).Select(static i => ("sender", $"receiver{i}"))]);

    /// <summary>So many senders with a receiver each.</summary>
    public static StreamPlan Pairs(int pairs) => new([.. Enumerable.Range(1, pairs).Select(static i => ($"sender{i}", $"receiver{i}"))]);

    /// <summary>All instances, receivers first, each with the name of its app.</summary>
    public (string Instance, string App)[] Instances =>
        [.. Lanes.Select(static lane => lane.Receiver).Concat(Lanes.Select(static lane => lane.Sender)).Distinct()
            .Select(static name => (name, App))];

    public bool IsReceiver(string instance) => Lanes.Any(lane => lane.Receiver == instance);
}
