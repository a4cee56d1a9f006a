using System.Buffers.Binary;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Runs;

/// <summary>
/// Says whose execution made the messages of a run: the records of the sender's log that made the first and the last of them. Extension
/// block 5 in version 1 carries it (protocol P3.7). Of a run that was cut the two are bounds.
/// </summary>
public readonly record struct RunCause(Lsn First, Lsn Last)
{
    public const ulong Version = 1;

    /// <summary>The size of the whole block, which is always the same, so that room for it can be left before the run is known.</summary>
    public const int BlockBytes = 3 + ContentBytes;

    private const int ContentBytes = 16;

    /// <summary>
    /// Writes the whole block at the beginning of <paramref name="to"/>. Its type, its version and its length are a byte each.
    /// </summary>
    public void WriteBlock(Span<byte> to)
    {
        to[0] = (byte)ExtensionType.Cause;
        to[1] = (byte)Version;
        to[2] = ContentBytes;
        BinaryPrimitives.WriteUInt64LittleEndian(to[3..], First.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(to[11..], Last.Value);
    }

    /// <summary>Reads a block's content.</summary>
    /// <exception cref="ProtocolViolation">P3.7, L2.1 or P2.6.</exception>
    public static RunCause Read(ReadOnlySpan<byte> content)
    {
        var from = PayloadReader.OfFrame(content, "P3.7");
        var cause = new RunCause(from.Lsn(), from.Lsn());
        if (cause.First > cause.Last) throw from.Violation("P3.7", $"a run made by the records from {cause.First} back to {cause.Last}");
        from.End();
        return cause;
    }

    /// <summary>
    /// Finds the cause among the blocks of a run. Null: none says it, or one does in another version, or what it says is malformed.
    /// </summary>
    public static RunCause? In(ReadOnlySpan<byte> blocks)
    {
        var reader = new ExtensionReader(blocks);
        try
        {
            while (reader.Next())
                if (reader.Type == ExtensionType.Cause && reader.Version == Version) return Read(reader.Content);
        }
        catch (ProtocolViolation)
        {
            // Nothing that is executed depends on a block, so a reader goes on without it.
        }
        return null;
    }
}
