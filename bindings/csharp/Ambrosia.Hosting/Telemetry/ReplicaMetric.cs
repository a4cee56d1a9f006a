using System.Diagnostics.Metrics;
using Ambrosia.Hosting.Replicas;

namespace Ambrosia.Hosting.Telemetry;

/// <summary>Says how a metric's values are to be taken: as a sum that only grows, or as what is so at the moment.</summary>
internal enum MetricKind
{
    Counter,
    Gauge,
}

/// <summary>Describes one metric of a replica: its name, and where its values stand in what the replica says of itself.</summary>
/// <param name="Unit">In the form of UCUM, as OpenTelemetry has units.</param>
/// <param name="Read">Returns the values, each with what it is about beside the replica; none: the replica does not say them.</param>
internal sealed record ReplicaMetric(
    string Name, MetricKind Kind, string Unit, string Description, Func<ReplicaStatus, IEnumerable<MetricValue>> Read)
{
    /// <summary>A metric that has one value, which the status has as a number at this path.</summary>
    internal static ReplicaMetric Of(string name, MetricKind kind, string unit, string description, params string[] path) =>
        new(name, kind, unit, description, status => [new MetricValue(status.Number(path))]);

    /// <summary>Makes the instrument.</summary>
    internal void AddTo(Meter meter, Func<IEnumerable<ReplicaStatus>> replicas)
    {
        IEnumerable<Measurement<double>> Observe() =>
            from replica in replicas()
            from value in Read(replica)
            select new Measurement<double>(value.Value, TagsOf(replica, value));
        if (Kind == MetricKind.Counter) meter.CreateObservableCounter(Name, Observe, Unit, Description);
        else meter.CreateObservableGauge(Name, Observe, Unit, Description);
    }

    private static KeyValuePair<string, object?>[] TagsOf(ReplicaStatus replica, MetricValue value) =>
    [
        new("ambrosia.instance", replica.Instance), new("ambrosia.replica", replica.Replica),
        .. value.Tag is { } tag ? [new KeyValuePair<string, object?>(tag.Key, tag.Value)] : Array.Empty<KeyValuePair<string, object?>>(),
    ];
}

/// <summary>Holds a value, and what it is about if a metric has several.</summary>
internal readonly record struct MetricValue(double Value, (string Key, string Value)? Tag = null);
