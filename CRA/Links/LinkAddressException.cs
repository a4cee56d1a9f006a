namespace CRA;

/// <summary>
/// An address that cannot be used: the message says what, why and how to mend it. Of a command line it means exit code 2.
/// </summary>
public sealed class LinkAddressException(string message, Exception? inner = null) : Exception(message, inner);
