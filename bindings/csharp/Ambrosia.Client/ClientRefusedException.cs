namespace Ambrosia.Client;

/// <summary>The instance does not take this caller; the message is what it said.</summary>
public sealed class ClientRefusedException(string message) : Exception(message);
