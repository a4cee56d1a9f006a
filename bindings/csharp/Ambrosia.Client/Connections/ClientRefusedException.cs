namespace Ambrosia.Client;

/// <summary>The instance does not accept this client. The message is the reason that the instance gave.</summary>
public sealed class ClientRefusedException(string message) : Exception(message);
