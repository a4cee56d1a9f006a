namespace Ambrosia.Protocol;

/// <summary>
/// Cuts the first messages off a run that reaches across a position (protocol P6.6). What goes on is the new header, the extension blocks
/// unchanged, and the messages from the offset; the channel hash after the last message stays what it was.
/// </summary>
public static class RunCut
{
    /// <summary>Where in <see cref="RunView.Messages"/> message number <paramref name="count"/> (from 0) begins.</summary>
    /// <exception cref="ProtocolViolation">P3.1: the run holds fewer messages than its header says.</exception>
    public static int Offset(RunView run, uint count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(count, run.Header.Count);
        return Messages.Skip(run.Messages, count);
    }

    /// <summary>Header of what is left after the first <paramref name="count"/> messages; at least one must be left.</summary>
    public static RunHeader Header(RunHeader header, uint count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(count, header.Count);
        return header with { First = header.First + count, Count = header.Count - count };
    }
}
