namespace Ambrosia.Tools;

/// <summary>Nobody reads the output any more.</summary>
internal sealed class OutputClosedException(IOException cause) : Exception(cause.Message, cause);
