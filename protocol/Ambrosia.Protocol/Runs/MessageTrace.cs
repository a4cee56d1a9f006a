using System.Buffers.Binary;
using System.Globalization;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Runs;

/// <summary>
/// Says to which trace a message of a run belongs, in the terms of W3C Trace Context; extension block 1 in version 1 carries it for those
/// messages that are sampled (protocol P3.7).
/// </summary>
/// <param name="FromEnd">Index of the message from the end of the run, where 0 is the last, so that it stays right when the front of the
/// run is cut off.</param>
/// <param name="TraceId">The 16 bytes of the trace's id as a number, the first byte the highest; never 0.</param>
/// <param name="SpanId">The 8 bytes of the id of the span that sent the message, likewise; never 0.</param>
/// <param name="Flags">The trace flags; bit 0: sampled.</param>
public readonly record struct MessageTrace(uint FromEnd, UInt128 TraceId, ulong SpanId, byte Flags)
{
    public const ulong Version = 1;

    private const int IdsBytes = 16 + 8;

    /// <summary>Writes the whole block for messages in their order, so with indexes that fall.</summary>
    public static void WriteBlock(ref PayloadWriter to, ReadOnlySpan<MessageTrace> traces)
    {
        byte[] content = new byte[traces.Length * (Varint.BytesMax + IdsBytes + 1)];
        var inner = new PayloadWriter(content);
        Span<byte> ids = stackalloc byte[IdsBytes];
        foreach (MessageTrace trace in traces)
        {
            inner.Varint(trace.FromEnd);
            BinaryPrimitives.WriteUInt128BigEndian(ids, trace.TraceId);
            BinaryPrimitives.WriteUInt64BigEndian(ids[16..], trace.SpanId);
            inner.Raw(ids);
            inner.U8(trace.Flags);
        }
        to.Varint((ulong)ExtensionType.TraceContext);
        to.Varint(Version);
        to.Bytes(content.AsSpan(0, inner.Written), content.Length);
    }

    /// <summary>Reads a block's content.</summary>
    /// <exception cref="ProtocolViolation">P3.7 or P1.2.</exception>
    public static MessageTrace[] Read(ReadOnlySpan<byte> content)
    {
        var from = PayloadReader.OfFrame(content, "P3.7");
        var traces = new List<MessageTrace>(content.Length / (1 + IdsBytes + 1));
        do
        {
            ulong fromEnd = from.Varint();
            if (fromEnd > uint.MaxValue || (traces.Count > 0 && fromEnd >= traces[^1].FromEnd))
                throw from.Violation("P3.7", $"trace of message {fromEnd} from the end of the run");
            ReadOnlySpan<byte> ids = from.Take(IdsBytes);
            var trace = new MessageTrace(
                (uint)fromEnd, BinaryPrimitives.ReadUInt128BigEndian(ids), BinaryPrimitives.ReadUInt64BigEndian(ids[16..]), from.U8());
            if (trace.TraceId == 0 || trace.SpanId == 0) throw from.Violation("P3.7", "a trace or a span with an id of zeros");
            traces.Add(trace);
        }
        while (from.Left > 0);
        return [.. traces];
    }

    /// <summary>
    /// Finds what the blocks of a run say of traces. None: no block says it, or one does in another version, or what it says is malformed.
    /// </summary>
    public static MessageTrace[] In(ReadOnlySpan<byte> blocks)
    {
        var reader = new ExtensionReader(blocks);
        try
        {
            while (reader.Next())
                if (reader.Type == ExtensionType.TraceContext && reader.Version == Version) return Read(reader.Content);
        }
        catch (ProtocolViolation)
        {
            // Nothing that is executed depends on a block, so a reader goes on without it.
        }
        return [];
    }

    /// <summary>Writes the two ids and the flags in hexadecimal, as the header <c>traceparent</c> has them behind its version.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{TraceId:x32}-{SpanId:x16}-{Flags:x2}");
}
