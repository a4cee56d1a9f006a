using Ambrosia.Protocol.Runs;

namespace Ambrosia;

/// <summary>
/// Says that an awaited call failed at the called instance. Type and message are those of the exception there, as text: nothing is
/// instantiated by name (protocol P4.4). Where the app there had not written the message, it says the type alone (P4.7). Failures of which
/// no handler is the author have names of their own, which <see cref="FailureNames"/> lists.
/// </summary>
public sealed class RemoteCallException : Exception, IListedFailure
{
    /// <summary>
    /// The <see cref="TypeName"/> of calls that cannot be answered any more: an operator has given the called instance up for good
    /// ('ambrosia forget-peer').
    /// </summary>
    public const string PeerForgotten = FailureNames.PeerForgotten;

    /// <param name="typeName">The full name of the exception's type at the called instance.</param>
    /// <param name="message">The exception's message there.</param>
    /// <param name="inner">The exception that it wrapped there.</param>
    /// <param name="remoteStack">Where it was thrown there; null: it was not told.</param>
    public RemoteCallException(string typeName, string message, RemoteCallException? inner = null, string? remoteStack = null)
        : base(message, inner)
    {
        TypeName = typeName;
        RemoteStack = remoteStack;
    }

    /// <summary>The full name of the exception's type at the called instance, or a name of <see cref="FailureNames"/>.</summary>
    public string TypeName { get; }

    /// <summary>
    /// The place at which it was thrown there, if it was told. It is not part of what is replayed, so nothing may be decided on it.
    /// </summary>
    public string? RemoteStack { get; }

    /// <summary>
    /// A handler that lets the failure of its call through fails by it: its own caller is told that, and what the call had failed of.
    /// </summary>
    FailureInfo IListedFailure.Failure => ListedFailures.CallFailed(Info());

    internal static RemoteCallException Of(FailureInfo failure, string? stack = null) =>
        new(failure.TypeName, failure.Message, failure.Inner is null ? null : Of(failure.Inner), stack);

    private FailureInfo Info() => new(TypeName, Message, (InnerException as RemoteCallException)?.Info());
}
