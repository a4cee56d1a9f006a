namespace CRA;

/// <summary>A dial that came to nothing for an ordinary reason (refused, timed out, closed): back off and dial again.</summary>
public sealed class LinkUnreachableException(string message, Exception? inner = null) : IOException(message, inner);
