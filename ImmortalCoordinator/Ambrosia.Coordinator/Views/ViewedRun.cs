using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Views;

/// <summary>Holds messages that the app of a view has emitted in one run: calls and results, or answers to callers outside.</summary>
/// <param name="To">Null: callers outside.</param>
/// <param name="First">The number of the first message on its channel; of answers, among all answers since the log began.</param>
/// <param name="Header">As the app wrote it.</param>
/// <param name="Messages">One behind another, as they stood in the run.</param>
/// <param name="Cause">The records that made the first and the last; null: the app does not say it.</param>
public sealed record ViewedRun(InstanceId? To, ulong First, RunHeader Header, ReadOnlyMemory<byte> Messages, RunCause? Cause);

/// <summary>Holds what the app of a view has emitted between two stops, in the order in which it came.</summary>
/// <param name="Missing">
/// It was more than is kept: so many messages to each of these are left out. Callers outside are the empty name.
/// </param>
public sealed record ViewedEmissions(IReadOnlyList<ViewedRun> Runs, IReadOnlyDictionary<string, ulong> Missing)
{
    public static readonly ViewedEmissions None = new([], new SortedDictionary<string, ulong>());
}
