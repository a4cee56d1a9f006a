using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Runs;

/// <summary>Holds the remote stack of one failure of a run; extension block 2 in version 1 carries it (protocol P3.7).</summary>
/// <param name="FromEnd">Index of the message from the end of the run, where 0 is the last, so that it stays right when the front of the
/// run is cut off.</param>
public sealed record FailureStack(uint FromEnd, string Stack)
{
    public const ulong Version = 1;

    /// <summary>A stack longer than this is cut when it is written.</summary>
    public const int StackBytesMax = 8192;

    /// <summary>Writes the whole block.</summary>
    public void Write(ref PayloadWriter to)
    {
        Span<byte> content = stackalloc byte[Varint.BytesMax + 2 + StackBytesMax];
        var inner = new PayloadWriter(content);
        inner.Varint(FromEnd);
        inner.CutString(Stack, StackBytesMax);
        to.Varint((ulong)ExtensionType.FailureStack);
        to.Varint(Version);
        to.Bytes(content[..inner.Written], content.Length);
    }

    /// <summary>Reads a block's content.</summary>
    /// <exception cref="ProtocolViolation">P3.7, P1.2 or P1.3.</exception>
    public static FailureStack Read(ReadOnlySpan<byte> content)
    {
        var from = PayloadReader.OfFrame(content, "P3.7");
        ulong fromEnd = from.Varint();
        if (fromEnd > uint.MaxValue) throw from.Violation("P3.7", $"stack of message {fromEnd}");
        var stack = new FailureStack((uint)fromEnd, from.String(StackBytesMax));
        from.End();
        return stack;
    }
}
