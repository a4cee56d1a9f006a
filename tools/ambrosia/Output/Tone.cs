namespace Ambrosia.Tools;

/// <summary>How a line is meant; a colour on a terminal, nothing in a pipe.</summary>
internal enum Tone { Plain, Heading, Good, Warning, Bad }
