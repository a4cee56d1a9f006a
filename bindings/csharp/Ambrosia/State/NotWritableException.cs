using Ambrosia.Protocol.Runs;

namespace Ambrosia;

/// <summary>
/// Something in the immortal's state, or in what a task is given, cannot be written; the message names the field and its type. A handler
/// that lets it through fails by the list of protocol P4.6.
/// </summary>
public sealed class NotWritableException(string message) : Exception(message), IListedFailure
{
    /// <summary>A collection does not find one of its own keys.</summary>
    internal bool IsOfLostKey { get; init; }

    FailureInfo IListedFailure.Failure => ListedFailures.Misuse("a value");
}
