namespace Ambrosia;

/// <summary>What the caller of a query is told that changed the state; its replica ends, and has its state again from the log.</summary>
internal sealed class QueryChangedStateException(string query)
    : Exception(
        $"{query} is a query and has changed the state. That replica ends now and makes its state again from the log; without [Query] the method is a handler, which may do that.");
