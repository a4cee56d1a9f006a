using System.Buffers.Binary;

namespace Ambrosia.Protocol;

/// <summary>The 32 bytes in front of a run's extension blocks and messages (protocol P3).</summary>
/// <param name="Peer">Destination index, origin id or 0, by where the run is.</param>
/// <param name="First">SequenceNumber of the first message (or ticket, or 0).</param>
/// <param name="Hash">Sender's channel hash after the last message; for impulses the sender's epoch; for a client's answers the session's
/// epoch, and First its number.</param>
public readonly record struct RunHeader(
    MessageKind Kind, bool Keyed, ushort Shard, uint Peer, ulong First, uint Count, uint ExtensionBytes, ulong Hash)
{
    public const int Bytes = 32;

    /// <summary>A run with more than one message is at most this long, header included (P3.5).</summary>
    public const int RunBytesMax = 256 * 1024;

    /// <summary>SequenceNumber of the last message.</summary>
    public ulong Last => First + Count - 1;

    /// <summary>Answers to a caller outside.</summary>
    public bool IsClientAnswer => Kind is MessageKind.ClientAnswer or MessageKind.ClientFailure;

    /// <summary>Of answers: the session that asked.</summary>
    public ClientSessionId ClientSession => new(new Epoch(Hash), First);

    public bool IsNumbered => Kind is >= MessageKind.Fork and <= MessageKind.Failure;

    public void Write(Span<byte> to)
    {
        to[0] = (byte)Kind;
        to[1] = Keyed ? (byte)1 : (byte)0;
        BinaryPrimitives.WriteUInt16LittleEndian(to[2..], Shard);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], Peer);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], First);
        BinaryPrimitives.WriteUInt32LittleEndian(to[16..], Count);
        BinaryPrimitives.WriteUInt32LittleEndian(to[20..], ExtensionBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], Hash);
    }

    /// <summary>Reads and checks the header of a whole run (not its messages: see <see cref="Messages.Check"/>).</summary>
    /// <exception cref="ProtocolViolation">P3.1, P3.2, P3.5 or P3.8.</exception>
    public static RunHeader Read(ReadOnlySpan<byte> run) => ReadBeginning(run, run.Length);

    /// <summary>The same where only the beginning of the run is at hand: of a record that spans pages (log-format L4.3).</summary>
    /// <param name="runBytes">Length of the whole run.</param>
    /// <exception cref="ProtocolViolation">P3.1, P3.2, P3.5 or P3.8.</exception>
    public static RunHeader ReadBeginning(ReadOnlySpan<byte> run, long runBytes)
    {
        if (run.Length < Bytes) throw new ProtocolViolation("P3.1", $"run of {run.Length} bytes is shorter than its header");
        var header = new RunHeader(
            (MessageKind)run[0], run[1] == 1,
            BinaryPrimitives.ReadUInt16LittleEndian(run[2..]),
            BinaryPrimitives.ReadUInt32LittleEndian(run[4..]),
            BinaryPrimitives.ReadUInt64LittleEndian(run[8..]),
            BinaryPrimitives.ReadUInt32LittleEndian(run[16..]),
            BinaryPrimitives.ReadUInt32LittleEndian(run[20..]),
            BinaryPrimitives.ReadUInt64LittleEndian(run[24..]));
        header.Check(run[1], runBytes);
        return header;
    }

    private void Check(byte flags, long runBytes)
    {
        if (Kind is < MessageKind.Fork or > MessageKind.ClientFailure)
            throw new ProtocolViolation("P3.2", $"run of unknown kind {(byte)Kind}");
        if (flags > 1 || (Keyed && Kind is not (MessageKind.Impulse or MessageKind.ClientRequest)))
            throw new ProtocolViolation("P1.6", $"run flags 0x{flags:X2} of kind {Kind}");
        if (Count == 0 || ExtensionBytes > runBytes - Bytes)
            throw new ProtocolViolation("P3.1", $"run with count {Count} and {ExtensionBytes} bytes of extensions in {runBytes} bytes");
        if (Count > 1 && runBytes > RunBytesMax) throw new ProtocolViolation("P3.5", $"run of {Count} messages in {runBytes} bytes");
        if (First > (ulong)long.MaxValue - (Count - 1)) throw new ProtocolViolation("P3.8", $"run begins at number {First}");
    }
}
