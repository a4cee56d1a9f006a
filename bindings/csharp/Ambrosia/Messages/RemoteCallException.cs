namespace Ambrosia;

/// <summary>
/// An awaited call failed at the called instance. Type and message are those of the exception there, as text: nothing is instantiated
/// by name (protocol P4.4).
/// </summary>
public sealed class RemoteCallException : Exception
{
    /// <summary>
    /// <see cref="TypeName"/> of calls that cannot be answered any more: an operator has given the called instance up for good
    /// ('ambrosia forget-peer').
    /// </summary>
    public const string PeerForgotten = "Ambrosia.PeerForgotten";

    public RemoteCallException(string typeName, string message, RemoteCallException? inner = null, string? remoteStack = null)
        : base(message, inner)
    {
        TypeName = typeName;
        RemoteStack = remoteStack;
    }

    /// <summary>Full name of the exception's type at the called instance.</summary>
    public string TypeName { get; }

    /// <summary>Where it was thrown there, if it was told; not part of what is replayed, so nothing may be decided on it.</summary>
    public string? RemoteStack { get; }
}
