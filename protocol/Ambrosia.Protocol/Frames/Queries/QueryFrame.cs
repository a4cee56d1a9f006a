using System.Buffers;

namespace Ambrosia.Protocol;

/// <summary>A query on its way to whoever answers it (protocol P5.18, P10.9). A view on the payload.</summary>
public readonly ref struct QueryFrame
{
    /// <summary>Everything in front of the arguments.</summary>
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

    /// <summary>Its number among those of its sender, from 1.</summary>
    public ulong Query { get; }

    /// <summary>Every record below is to be executed before.</summary>
    public Lsn Position { get; }

    /// <summary>How long a replica may wait for that, in ms; more than <see cref="PatienceMsMax"/> counts as that.</summary>
    public uint PatienceMs { get; }

    public uint Method { get; }

    public ReadOnlySpan<byte> Arguments { get; }

    /// <exception cref="ProtocolViolation">P5.18: not a query, or longer than the message limit allows.</exception>
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

    /// <summary>The payload.</summary>
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
