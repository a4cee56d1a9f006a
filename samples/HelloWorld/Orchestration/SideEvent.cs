namespace HelloWorld.Orchestration;

/// <summary>Something that a side's processes did: a line, or the coordinator's end.</summary>
/// <param name="Start">The coordinator's start that it belongs to; what comes late from an earlier one is of no interest.</param>
internal sealed record SideEvent(Side Side, int Start, string? Line, int? ExitCode = null);
