using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Failures;

/// <summary>Encodes exceptions as failures on the wire, and decodes them (protocol P4.4).</summary>
internal static class FailureCodec
{
    /// <summary>The characters at which a text is cut.</summary>
    private const int CharsMax = 4096;

    /// <summary>
    /// The characters of all texts of a chain, so that a failure always fits into the smallest message limit there is, 64 KiB: a char is 3
    /// bytes at most.
    /// </summary>
    private const int ChainCharsMax = 20_000;

    internal static void Write(IBufferWriter<byte> to, Exception failure) => Write(to, FailureWording.Describe(failure));

    internal static void Write(IBufferWriter<byte> to, FailureInfo failure)
    {
        var writer = new CborWriter(to);
        int left = ChainCharsMax;
        Writable(failure, ref left).Write(ref writer);
        writer.Flush();
    }

    /// <summary>
    /// Returns what goes into the stack block, which is in no hash (P3.7): where the exception was thrown, and in front of that whatever
    /// wording does not travel in the failure itself.
    /// </summary>
    /// <param name="sent">The failure as it travels.</param>
    internal static string StackOf(Exception failure, FailureInfo sent) => Writable(failure switch
    {
        RemoteCallException { RemoteStack: { } remote } => $"{failure.StackTrace}\n--- at the called instance ---\n{remote}",
        _ when IsReworded(failure, sent) => Whole(failure),
        _ => failure.StackTrace ?? "",
    });

    /// <summary>Says whether a failure travels with another text than the exception's, or than that of one of its causes.</summary>
    internal static bool IsReworded(Exception failure, FailureInfo sent)
    {
        FailureInfo? info = sent;
        for (Exception? e = failure; e is not null && info is not null; e = e.InnerException, info = info.Inner)
            if (e is IListedFailure || FailureInfo.MessageOf(e) != info.Message) return true;
        return false;
    }

    /// <summary>Returns all that an exception says; where its own text throws, the stack alone.</summary>
    internal static string Whole(Exception failure)
    {
        try
        {
            return failure.ToString();
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            return failure.StackTrace ?? "";
        }
    }

    internal static RemoteCallException Read(ReadOnlySpan<byte> failure, ReadOnlySpan<byte> extensions, uint fromEnd)
    {
        try
        {
            var reader = new CborReader(failure);
            return RemoteCallException.Of(FailureInfo.Read(ref reader), StackIn(extensions, fromEnd));
        }
        catch (CborException e)
        {
            return RemoteCallException.Of(ListedFailures.BadFailure(), e.ToString());
        }
    }

    private static string? StackIn(ReadOnlySpan<byte> extensions, uint fromEnd)
    {
        var blocks = new ExtensionReader(extensions);
        while (blocks.Next())
        {
            if (blocks.Type == ExtensionType.FailureStack && blocks.Version == FailureStack.Version
                && Read(blocks.Content) is { } stack && stack.FromEnd == fromEnd) return stack.Stack;
        }
        return null;
    }

    /// <summary>Reads a stack. One that is malformed is none: it is in the log, where every replay would end at it (P3.7).</summary>
    private static FailureStack? Read(ReadOnlySpan<byte> content)
    {
        try
        {
            return FailureStack.Read(content);
        }
        catch (ProtocolViolation)
        {
            return null;
        }
    }

    /// <summary>Makes a chain that can be written. The outermost exception says most, so it is cut last.</summary>
    private static FailureInfo Writable(FailureInfo failure, ref int charsLeft)
    {
        string type = Cut(failure.TypeName, ref charsLeft), message = Cut(failure.Message, ref charsLeft);
        return new FailureInfo(type, message, failure.Inner is null ? null : Writable(failure.Inner, ref charsLeft));
    }

    private static string Cut(string text, ref int charsLeft)
    {
        string cut = Writable(text.Length <= charsLeft ? text : text[..charsLeft]);
        charsLeft -= cut.Length;
        return cut;
    }

    /// <summary>Cuts a text to what can be written, without the lone surrogates that UTF-8 cannot say.</summary>
    internal static string Writable(string text) =>
        Utf8Text.Shown(Utf8Text.Shown(text.Length <= CharsMax ? text : text[..CharsMax]));
}

/// <summary>Tells failures of handlers, which replay repeats and callers are told, from those that end the process.</summary>
internal static class HandlerFailure
{
    /// <summary>
    /// True if <paramref name="e"/> is a failure of the user's handler. Lack of memory, the end of the app channel, a stop of the app
    /// and a fault of our locks are none: they unwind whoever runs the handler.
    /// </summary>
    internal static bool Is(Exception e) => e is not (OutOfMemoryException or ChannelEnded or AppFailed or LockOrderException);
}

/// <summary>
/// Says that the user's code failed where no caller can be told: in a constructor, in OnFirstStart, in BecomingPrimary, at a restore.
/// </summary>
internal sealed class AppFailed(string what, Exception why) : Exception($"{what}: {why.Message}", why);

/// <summary>The image of a checkpoint cannot be restored: the coordinator may have an older one.</summary>
internal sealed class ImageUnrestorable(Exception why) : Exception(why.Message, why);

/// <summary>Unwinds a handler that was sending when the app channel had gone; the next process repeats its work.</summary>
internal sealed class ChannelEnded(string why) : Exception(why);

/// <summary>
/// Says that what is executed contradicts the log: this execution is another than the one that made the log (log-format L5.11).
/// </summary>
internal sealed class Diverged(string what) : Exception(what);
