namespace HelloWorld.Orchestration;

/// <summary>
/// A kill to come: due a <paramref name="Delay"/> after both the kill before it and the moment when so many calls were seen applied.
/// </summary>
/// <param name="AfterCalls">Calls of this run.</param>
internal sealed record PlannedKill(KillTarget Target, long AfterCalls, TimeSpan Delay);
