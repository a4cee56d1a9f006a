using System.Buffers;
using System.Text;

namespace Ambrosia.Protocol;

/// <summary>What became of a query (protocol P5.18, P10.9). A view on the payload.</summary>
public readonly ref struct QueryAnswerFrame
{
    /// <summary>Everything in front of the value.</summary>
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
    /// The state that was seen holds every record below and none behind; of <see cref="QueryStatus.NotNow"/> how far the replica is.
    /// </summary>
    public Lsn Position { get; }

    /// <summary>Value, failure, or the text that says why not.</summary>
    public ReadOnlySpan<byte> Answer { get; }

    /// <summary>Of <see cref="QueryStatus.NotNow"/>.</summary>
    public string Why => Encoding.UTF8.GetString(Answer);

    public static QueryAnswerFrame NotNow(ulong query, Lsn position, string why)
    {
        byte[] text = Encoding.UTF8.GetBytes(why);
        return new QueryAnswerFrame(query, QueryStatus.NotNow, position, text.AsSpan(0, Math.Min(text.Length, WhyBytesMax)));
    }

    /// <exception cref="ProtocolViolation">P5.18: not an answer, or longer than the message limit allows.</exception>
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

    /// <summary>The payload.</summary>
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
