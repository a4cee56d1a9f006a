namespace Ambrosia.Coordinator.Replica;

/// <summary>The user asked for something that cannot be done: the message says what, why, and how to mend it. Exit code 2.</summary>
public sealed class MisuseException(string message) : Exception(message);
