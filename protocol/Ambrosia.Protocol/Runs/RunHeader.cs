using System.Buffers.Binary;

namespace Ambrosia.Protocol.Runs;

/// <summary>The header is the 32 bytes in front of a run's extension blocks and messages (protocol P3).</summary>
/// <param name="Peer">Destination index from an app, origin id in the log and to an app, 0 on a link.</param>
/// <param name="First">Sequence number of the first message. From an app it is 0, or the first ticket of impulses.</param>
/// <param name="Hash">The sender's channel hash after the last message; for impulses the sender's epoch. For answers to a client it is the
/// epoch of the session, whose number is <paramref name="First"/>.</param>
public readonly record struct RunHeader(
    MessageKind Kind, bool Keyed, ushort Shard, uint Peer, ulong First, uint Count, uint ExtensionBytes, ulong Hash)
{
    public const int Bytes = 32;

    /// <summary>The sequence number of the last message.</summary>
    public ulong Last => First + Count - 1;

    /// <summary>True when the messages are answers to a client.</summary>
    public bool IsClientAnswer => Kind is MessageKind.ClientAnswer or MessageKind.ClientFailure;

    /// <summary>The client's session that asked; it is defined for answers to a client only.</summary>
    public ClientSessionId ClientSession => new(new Epoch(Hash), First);

    /// <summary>True when the messages have sequence numbers, which impulses and messages of clients have not.</summary>
    public bool IsNumbered => Kind is >= MessageKind.Fork and <= MessageKind.Failure;

    /// <summary>
    /// Returns the header of what is left of the run without its first messages (P6.6). Extension blocks and hash stay, since the hash is
    /// that after the last message; the messages that go are <see cref="MessageScanner.Skip"/> bytes.
    /// </summary>
    /// <param name="count">How many messages go; at least one is left.</param>
    public RunHeader CutFirst(uint count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(count, Count);
        return this with { First = First + count, Count = Count - count };
    }

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

    /// <summary>Reads and checks the header of a whole run (not its messages: see <see cref="MessageScanner.Check"/>).</summary>
    /// <exception cref="ProtocolViolation">P3.1, P3.2, P3.5 or P3.8.</exception>
    public static RunHeader Read(ReadOnlySpan<byte> run) => ReadBeginning(run, run.Length);

    /// <summary>
    /// Reads and checks the header where only the beginning of the run is there, as in a record that spans pages (log-format L4.3).
    /// </summary>
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
        if (Kind is < MessageKind.Fork or > MessageKind.ClientFailure) throw UnknownKind();
        if (flags > 1 || (Keyed && Kind is not (MessageKind.Impulse or MessageKind.ClientRequest)))
            throw new ProtocolViolation("P1.6", $"run flags 0x{flags:X2} of kind {Kind}");
        if (Count == 0 || ExtensionBytes > runBytes - Bytes)
            throw new ProtocolViolation("P3.1", $"run with count {Count} and {ExtensionBytes} bytes of extensions in {runBytes} bytes");
        if (Count > 1 && runBytes > SizeLimits.BatchBytesMax)
            throw new ProtocolViolation("P3.5", $"run of {Count} messages in {runBytes} bytes");
        if (First > (ulong)long.MaxValue - (Count - 1)) throw new ProtocolViolation("P3.8", $"run begins at number {First}");
    }

    /// <summary>Names a kind that is reserved: who sends it is a newer version, and the bytes are no damage.</summary>
    private ProtocolViolation UnknownKind() => new("P3.2", Kind is >= MessageKind.CellFork and <= MessageKind.CellClientRequest
        ? $"run of kind {(byte)Kind} ({Kind}): this version does not know calls to cells, a newer one does"
        : $"run of unknown kind {(byte)Kind}");
}

/// <summary>
/// Tells apart the kinds of messages (protocol P3.2). The numbers 64–127 are reserved for elasticity; those of them that have a name here
/// are refused by it.
/// </summary>
public enum MessageKind : byte
{
    Fork = 1, Call = 2, Result = 3, Failure = 4, Impulse = 5, ClientRequest = 6, ClientAnswer = 7,
    ClientFailure = 8,
    CellFork = 64, CellCall = 65, CellImpulse = 66, CellClientRequest = 67,
}
