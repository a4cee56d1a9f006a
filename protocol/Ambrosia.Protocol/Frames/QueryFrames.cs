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

/// <summary>
/// Holds the outcome of a query (protocol P5.18, P10.9). It is a view on the payload and lives as long as these bytes.
/// </summary>
public readonly ref struct QueryAnswerFrame
{
    /// <summary>The fields in front of the value take this many bytes.</summary>
    public const int HeadBytes = 8 + 1 + 8;

    private const int WhyBytesMax = 1024;

    public QueryAnswerFrame(ulong query, QueryStatus status, Lsn position, ReadOnlySpan<byte> answer)
    {
        Query = query;
        Status = status;
        Position = position;
        Answer = answer;
    }

    public ulong Query { get; }

    public QueryStatus Status { get; }

    /// <summary>
    /// The query saw the state that holds every record below this position and none behind it. With <see cref="QueryStatus.NotNow"/> it
    /// is the position that the replica has reached.
    /// </summary>
    public Lsn Position { get; }

    /// <summary>The value, the failure, or the text that says why there is neither, by <see cref="Status"/>.</summary>
    public ReadOnlySpan<byte> Answer { get; }

    /// <summary>The reason of <see cref="QueryStatus.NotNow"/>; it is defined for that status only.</summary>
    public string Why => Utf8Text.Shown(Answer);

    /// <summary>Makes the answer of a replica that cannot answer now. A reason longer than 1,024 bytes is cut.</summary>
    public static QueryAnswerFrame NotNow(ulong query, Lsn position, string why)
    {
        byte[] text = Utf8Text.Shown(why);
        return new QueryAnswerFrame(query, QueryStatus.NotNow, position, text.AsSpan(0, Math.Min(text.Length, WhyBytesMax)));
    }

    /// <summary>Reads and checks a payload.</summary>
    /// <exception cref="ProtocolViolation">P5.18: the payload is no answer, or longer than the message limit allows.</exception>
    public static QueryAnswerFrame Read(ReadOnlySpan<byte> payload, uint messageBytesMax)
    {
        var from = PayloadReader.OfFrame(payload, "P5.18");
        ulong query = from.U64();
        if (query == 0) throw from.Violation("P5.18", "an answer to query 0");
        byte status = from.U8();
        if (status > (byte)QueryStatus.NotNow) throw from.Violation("P5.18", $"an answer of status {status}");
        Lsn position = from.Lsn();
        long bytesMax = status == (byte)QueryStatus.NotNow ? WhyBytesMax : messageBytesMax;
        if (from.Left > bytesMax) throw from.Violation("P5.18", $"an answer of {from.Left} bytes where at most {bytesMax} are allowed");
        return new QueryAnswerFrame(query, (QueryStatus)status, position, from.Rest());
    }

    /// <summary>Writes the payload.</summary>
    public void Write(IBufferWriter<byte> to)
    {
        var writer = new PayloadWriter(to);
        writer.U64(Query);
        writer.U8((byte)Status);
        writer.U64(Position.Value);
        writer.Raw(Answer);
        writer.Flush();
    }
}

/// <summary>The status says what a QueryAnswer holds (protocol P5.18).</summary>
public enum QueryStatus : byte
{
    Value,

    /// <summary>The query threw an exception.</summary>
    Failure,

    /// <summary>This replica cannot answer at the moment. Another one may, or the same one later.</summary>
    NotNow,
}
