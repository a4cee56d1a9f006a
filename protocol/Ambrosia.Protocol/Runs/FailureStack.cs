namespace Ambrosia.Protocol;

/// <summary>Extension block 2, version 1: the remote stack of one failure of the run (protocol P3.7).</summary>
/// <param name="FromEnd">Which message: 0 is the run's last, so that cutting the front off a run leaves it right.</param>
public sealed record FailureStack(uint FromEnd, string Stack)
{
    public const ulong Version = 1;

    /// <summary>A longer stack is cut when written.</summary>
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
