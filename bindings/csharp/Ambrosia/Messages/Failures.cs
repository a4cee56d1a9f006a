using System.Buffers;
using System.Text;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Exceptions to failures on the wire and back (protocol P4.4).</summary>
internal static class Failures
{
    /// <summary>Texts are cut here, so that a failure always fits into a message and its stack into an extension block.</summary>
    private const int CharsMax = 4096;

    internal static void Write(IBufferWriter<byte> to, Exception failure)
    {
        var writer = new CborWriter(to);
        Writable(FailureInfo.Of(failure)).Write(ref writer);
        writer.Flush();
    }

    internal static string StackOf(Exception failure) => Writable(failure is RemoteCallException { RemoteStack: { } remote }
        ? $"{failure.StackTrace}\n--- at the called instance ---\n{remote}"
        : failure.StackTrace ?? "");

    internal static RemoteCallException Read(ReadOnlySpan<byte> failure, ReadOnlySpan<byte> extensions, uint fromEnd)
    {
        try
        {
            var reader = new CborReader(failure);
            return Of(FailureInfo.Read(ref reader), StackIn(extensions, fromEnd));
        }
        catch (CborException e)
        {
            return new RemoteCallException(typeof(CborException).FullName!, $"The failure could not be decoded: {e.Message}");
        }
    }

    private static string? StackIn(ReadOnlySpan<byte> extensions, uint fromEnd)
    {
        var blocks = new ExtensionReader(extensions);
        while (blocks.Next())
        {
            if (blocks.Type != ExtensionType.FailureStack || blocks.Version != FailureStack.Version) continue;
            FailureStack stack = FailureStack.Read(blocks.Content);
            if (stack.FromEnd == fromEnd) return stack.Stack;
        }
        return null;
    }

    private static RemoteCallException Of(FailureInfo failure, string? stack) =>
        new(failure.TypeName, failure.Message, failure.Inner is null ? null : Of(failure.Inner, null), stack);

    private static FailureInfo Writable(FailureInfo failure) =>
        new(Writable(failure.TypeName), Writable(failure.Message), failure.Inner is null ? null : Writable(failure.Inner));

    /// <summary>Short enough, and without the lone surrogates that UTF-8 cannot say.</summary>
    internal static string Writable(string text) =>
        Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text.Length <= CharsMax ? text : text[..CharsMax]));
}
