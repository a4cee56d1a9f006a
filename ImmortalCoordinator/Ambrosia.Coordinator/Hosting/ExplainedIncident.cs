using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Finds the message behind a death or a divergence, for people. A coordinator knows neither the names of a contract nor how a log is
/// executed for somebody who looks, so whoever runs it gives this. It may execute the log, and the process waits for it.
/// </summary>
/// <param name="directoryOf">Where the log of an instance is; null: nobody knows.</param>
/// <param name="giveUp">It has taken long enough: what is known by then is the answer.</param>
/// <returns>Null: there is nothing to say beyond the incident.</returns>
public delegate ExplainedIncident? IncidentExplainer(
    Incident incident, Func<InstanceId, string?> directoryOf, CancellationToken giveUp);

/// <summary>Says of a death or a divergence which message it is.</summary>
/// <param name="Place">The message, where <see cref="IsExact"/> says that it was found; else it, or one of those behind it.</param>
/// <param name="Text">A line for people: what stands there, by name, what was done, and how to stop just before it.</param>
/// <param name="Command">What stops just before it.</param>
public sealed record ExplainedIncident(MessagePlace Place, bool IsExact, string Text, string Command);
