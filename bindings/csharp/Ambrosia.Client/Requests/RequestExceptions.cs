using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Client;

/// <summary>
/// The immortal's handler threw. Type and message are those of the exception there, as text; no object is ever made from the name.
/// </summary>
public class RequestFailedException : Exception
{
    public RequestFailedException(string typeName, string message, Exception? inner = null)
        : base(message, inner) => TypeName = typeName;

    /// <summary>
    /// The full name of the exception's type at the immortal, or a name of <see cref="FailureNames"/> for a failure of which no handler
    /// is the author.
    /// </summary>
    public string TypeName { get; }

    /// <summary>Says whether the instance does not know the method that was called.</summary>
    internal bool IsNoMethod => TypeName == FailureNames.NoMethod;

    /// <summary>
    /// Returns this failure. Where the instance does not know the method, of which it has but the number, the failure names it.
    /// </summary>
    /// <param name="method">The method's name with its contract; null where only the number is known.</param>
    internal RequestFailedException Naming(string? method) => method is null || !IsNoMethod ? this : new(TypeName,
        $"{method} is not in the contract that the instance has: another version of it, or another service. ({Message})", InnerException);

    internal static RequestFailedException Of(ReadOnlySpan<byte> failure)
    {
        try
        {
            var reader = new CborReader(failure);
            return Of(FailureInfo.Read(ref reader));
        }
        catch (CborException e)
        {
            FailureInfo bad = ListedFailures.BadFailure();
            return new RequestFailedException(bad.TypeName, bad.Message, e);
        }
    }

    private static RequestFailedException Of(FailureInfo failure) => failure.TypeName == FailureNames.KeyReused
        ? new KeyReusedException(failure.Message)
        : new RequestFailedException(failure.TypeName, failure.Message, failure.Inner is null ? null : Of(failure.Inner));
}

/// <summary>
/// The key was used for the same method before, with other arguments, and nothing was done: an answer that was kept for the key would be
/// that of another request. Give each request a key of its own.
/// </summary>
public sealed class KeyReusedException : RequestFailedException
{
    internal KeyReusedException(string message) : base(FailureNames.KeyReused, message)
    {
    }
}

/// <summary>
/// The connection was lost after a message was sent and before it was known to be logged or answered. The message takes effect once or
/// never, and nobody can tell which. Send what matters with a key (<see cref="ClientProxy{TContract}.WithKey(string)"/>), so that it is
/// repeated until the answer is there.
/// </summary>
public sealed class OutcomeUnknownException(string message, Exception? inner = null) : Exception(message, inner);

/// <summary>
/// The message is longer than the instance accepts, and nothing of it was sent. The coordinator's <c>--max-message</c> sets the limit.
/// </summary>
public sealed class MessageTooLongException : Exception
{
    internal MessageTooLongException(long bytes, uint bytesMax)
        : base(
            $"A message of {bytes} bytes is longer than the limit of {bytesMax} bytes of the instance (protocol P3.4); send it in parts.")
    {
    }
}
