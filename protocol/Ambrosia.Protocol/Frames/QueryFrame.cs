using System.Buffers;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// Carries a query to the replica that answers it (protocol P5.18, P10.9). It is a view on the payload and lives as long as these bytes.
/// </summary>
public readonly ref struct QueryFrame
{
    /// <summary>The fields in front of the arguments take this many bytes.</summary>
    public const int HeadBytes = 8 + 8 + 4 + 4;

    /// <summary>A replica waits no longer than this for a position, in ms.</summary>
    public const uint PatienceMsMax = 60_000;

    public QueryFrame(ulong query, Lsn position, uint patienceMs, uint method, ReadOnlySpan<byte> arguments)
    {
        Query = query;
        Position = position;
        PatienceMs = patienceMs;
        Method = method;
        Arguments = arguments;
    }

    /// <summary>The number of this query among those of its sender, from 1.</summary>
    public ulong Query { get; }

    /// <summary>The replica must have executed every record below this position before it answers.</summary>
    public Lsn Position { get; }

    /// <summary>
    /// The replica may wait this long for <see cref="Position"/>, in ms. A value above <see cref="PatienceMsMax"/> counts as that one.
    /// </summary>
    public uint PatienceMs { get; }

    public uint Method { get; }

    public ReadOnlySpan<byte> Arguments { get; }

    /// <summary>Reads and checks a payload.</summary>
    /// <exception cref="ProtocolViolation">P5.18: the payload is no query, or longer than the message limit allows.</exception>
    public static QueryFrame Read(ReadOnlySpan<byte> payload, uint messageBytesMax)
    {
        var from = PayloadReader.OfFrame(payload, "P5.18");
        ulong query = from.U64();
        if (query == 0) throw from.Violation("P5.18", "query 0");
        Lsn position = from.Lsn();
        uint patienceMs = from.U32(), method = from.U32();
        if (method == 0) throw from.Violation("P5.18", "a query of method 0");
        if (from.Left > messageBytesMax)
            throw from.Violation("P5.18", $"a query with {from.Left} bytes of arguments, the message limit is {messageBytesMax}");
        return new QueryFrame(query, position, patienceMs, method, from.Rest());
    }

    /// <summary>Writes the payload.</summary>
    public void Write(IBufferWriter<byte> to)
    {
        var writer = new PayloadWriter(to);
        writer.U64(Query);
        writer.U64(Position.Value);
        writer.U32(PatienceMs);
        writer.U32(Method);
        writer.Raw(Arguments);
        writer.Flush();
    }
}
