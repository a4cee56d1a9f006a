using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>
/// One message on its way: encoded once, sent again on another connection only if it has a key. State is guarded by the book.
/// </summary>
/// <param name="message">The whole message, its length included (protocol P3.3).</param>
/// <param name="bodyBytes">Of it without the length: what the message limit counts.</param>
internal sealed class ClientRequest(bool isImpulse, bool isKeyed, byte[] message, int bodyBytes)
{
    internal bool IsImpulse => isImpulse;

    internal bool IsKeyed => isKeyed;

    internal byte[] Message => message;

    internal int BodyBytes => bodyBytes;

    /// <summary>
    /// Completed with the answer, or for an impulse with nothing when it is logged. Continuations never run on the connection's threads.
    /// </summary>
    internal TaskCompletionSource<byte[]> Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Of an impulse that is logged: a position behind its record.</summary>
    internal Lsn LoggedAt { get; set; }

    /// <summary>Its number on the present connection; 0: it was not sent there.</summary>
    internal ulong Number { get; set; }
}
