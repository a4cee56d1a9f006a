namespace Ambrosia.Client;

/// <summary>
/// The message is longer than the instance takes: nothing of it was sent. The coordinator's <c>--max-message</c> sets the limit.
/// </summary>
public sealed class MessageTooLongException : Exception
{
    internal MessageTooLongException(long bytes, uint bytesMax)
        : base(
            $"A message of {bytes} bytes is longer than the limit of {bytesMax} bytes of the instance (protocol P3.4); send it in parts.")
    {
    }
}
