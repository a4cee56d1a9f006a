using Ambrosia.Protocol.Runs;

namespace Ambrosia;

/// <summary>Says how often it is checked that the state stays as it is: its image before and behind must be the same.</summary>
public enum QueryChecking
{
    /// <summary>No query is checked.</summary>
    Never,

    /// <summary>The first, second, fourth, eighth … query of each method in a session is checked.</summary>
    Sampled,

    /// <summary>Every query is checked.</summary>
    Always,
}

/// <summary>Tells the caller that its query changed the state; that replica ends, and makes its state again from the log.</summary>
internal sealed class QueryChangedStateException(string query, uint method)
    : Exception(
        $"{query} is a query and has changed the state. That replica ends now and makes its state again from the log; without [Query] the method is a handler, which may do that."),
        IListedFailure
{
    FailureInfo IListedFailure.Failure => ListedFailures.QueryChangedState(method);
}
