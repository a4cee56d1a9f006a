using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>Says how long the app of a view has executed messages for one method (protocol P5.24).</summary>
/// <param name="Method">The method of forks, calls, impulses and requests; 0 for all that they do not begin.</param>
/// <param name="Messages">So many messages, or records where they hold no messages.</param>
/// <param name="Nanoseconds">Time passed on the executing thread.</param>
public readonly record struct HandlerTime(uint Method, ulong Messages, ulong Nanoseconds)
{
    /// <summary>A report has at most so many rows; methods beyond count as 0.</summary>
    public const int RowsMax = 4_096;

    private const int Bytes = 4 + 8 + 8, CountBytesMax = 2;

    internal static int BytesMaxOf(int rows) => CountBytesMax + rows * Bytes;

    internal static void Write(ref PayloadWriter to, IReadOnlyList<HandlerTime> rows)
    {
        to.Varint((ulong)rows.Count);
        foreach ((uint method, ulong messages, ulong nanoseconds) in rows)
        {
            to.U32(method);
            to.U64(messages);
            to.U64(nanoseconds);
        }
    }

    /// <summary>Reads the rows: each method once, in ascending order.</summary>
    /// <exception cref="ProtocolViolation">P2.6 or P5.24.</exception>
    internal static HandlerTime[] ReadAll(ref PayloadReader from)
    {
        int count = from.Count(Bytes);
        if (count > RowsMax) throw from.Violation("P5.24", $"{count} rows of times, more than {RowsMax}");
        var rows = new HandlerTime[count];
        for (int i = 0; i < rows.Length; i++)
        {
            rows[i] = new HandlerTime(from.U32(), from.U64(), from.U64());
            if (i > 0 && rows[i].Method <= rows[i - 1].Method)
                throw from.Violation("P5.24", $"times of method {rows[i].Method} behind those of {rows[i - 1].Method}");
        }
        return rows;
    }
}
