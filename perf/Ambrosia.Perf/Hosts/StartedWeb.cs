namespace Ambrosia.Perf;

/// <summary>One start of a web application on an empty log. Times in milliseconds from the start of its process.</summary>
/// <param name="ListensMs">Its server listened.</param>
/// <param name="ReadyMs">Its health checks had said that it can answer.</param>
/// <param name="AnsweredMs">The first request behind that was answered.</param>
internal sealed record StartedWeb(double ListensMs, double ReadyMs, double AnsweredMs);
