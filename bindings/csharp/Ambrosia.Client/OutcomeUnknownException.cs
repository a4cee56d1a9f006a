namespace Ambrosia.Client;

/// <summary>
/// The connection was lost after a message was sent and before it was known to be logged, or answered: it takes effect once or never, and
/// nobody can tell. What matters is sent with a key (<see cref="ClientProxy{TContract}.WithKey(string)"/>): then it is repeated
/// until the answer is there.
/// </summary>
public sealed class OutcomeUnknownException(string message, Exception? inner = null) : Exception(message, inner);
