using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>
/// The immortal's handler threw. Type and message are those of the exception there, as text: nothing is instantiated by name.
/// </summary>
public sealed class RequestFailedException : Exception
{
    public RequestFailedException(string typeName, string message, Exception? inner = null)
        : base(message, inner) => TypeName = typeName;

    /// <summary>Full name of the exception's type at the immortal.</summary>
    public string TypeName { get; }

    internal static RequestFailedException Of(ReadOnlySpan<byte> failure)
    {
        try
        {
            var reader = new CborReader(failure);
            return Of(FailureInfo.Read(ref reader));
        }
        catch (CborException e)
        {
            return new RequestFailedException(typeof(CborException).FullName!, $"The failure could not be decoded: {e.Message}");
        }
    }

    private static RequestFailedException Of(FailureInfo failure) =>
        new(failure.TypeName, failure.Message, failure.Inner is null ? null : Of(failure.Inner));
}
