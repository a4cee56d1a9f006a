namespace Ambrosia.Tools;

/// <summary>Where a run of the tool writes.</summary>
/// <param name="IsTerminal">A person looks at <paramref name="Output"/>: colours and drawn tables are welcome.</param>
/// <param name="IsErrorTerminal">The same of <paramref name="Error"/>: progress is shown there.</param>
internal sealed record ToolStreams(TextWriter Output, TextWriter Error, bool IsTerminal = false, bool IsErrorTerminal = false);
