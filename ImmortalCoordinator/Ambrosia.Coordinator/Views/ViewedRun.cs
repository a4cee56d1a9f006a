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
/// <param name="IsWhole">False: it was more than is kept, and the rest is missing.</param>
public sealed record ViewedEmissions(IReadOnlyList<ViewedRun> Runs, bool IsWhole)
{
    public static readonly ViewedEmissions None = new([], IsWhole: true);
}
