using System.Buffers;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>Knows which kinds of records this version writes, and encodes records of any kind (log-format L5).</summary>
public static class RecordKinds
{
    /// <summary>
    /// Returns false for kinds that are set aside and have no meaning yet. A reader refuses them by name (L5.1).
    /// </summary>
    public static bool IsDefined(RecordKind kind) => kind is (>= RecordKind.Run and <= RecordKind.Build) or RecordKind.StateHash;

    /// <summary>Encodes the body of a record, without its header.</summary>
    public static byte[] Encode<T>(T body) where T : IRecordBody<T>
    {
        var bytes = new ArrayBufferWriter<byte>();
        var writer = new PayloadWriter(bytes);
        body.Write(ref writer);
        writer.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    /// <summary>Encodes a whole record, header and body.</summary>
    public static byte[] EncodeWhole<T>(T body) where T : IRecordBody<T>
    {
        byte[] content = Encode(body);
        var record = new byte[RecordHeader.Bytes + content.Length];
        new RecordHeader((uint)content.Length, T.Kind).Write(record);
        content.CopyTo(record, RecordHeader.Bytes);
        return record;
    }
}

/// <summary>Tells apart the kinds of log records (log-format L5) by their byte in the header.</summary>
public enum RecordKind : byte
{
    Run = 1, ImpulseRun = 2, FirstStart = 3, Peer = 4, Trim = 5, Digest = 6, CheckpointMark = 7, NondetResult = 8,
    TimerFired = 9, ClientRequest = 10, Policy = 11, Quarantine = 12, Upgrade = 13, Forget = 14,
    Build = 15, NondetResults = 16, StateHash = 17,
}

/// <summary>
/// Encodes and decodes the body of one kind of log record (log-format L5). The contract is <c>Read(Write(x)) = x</c>, and that <c>Read</c>
/// refuses everything that <c>Write</c> cannot have written.
/// </summary>
public interface IRecordBody<TSelf> where TSelf : IRecordBody<TSelf>
{
    static abstract RecordKind Kind { get; }

    void Write(ref PayloadWriter to);

    /// <exception cref="ProtocolViolation">L5.10.</exception>
    static abstract TSelf Read(ReadOnlySpan<byte> body);
}
