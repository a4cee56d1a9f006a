using System.Buffers;

namespace Ambrosia.Protocol;

/// <summary>What is known of record kinds as such (log-format L5).</summary>
public static class RecordKinds
{
    /// <summary>False for kinds whose format is fixed but that this version never writes: a reader refuses them by name (L5.1).</summary>
    public static bool IsWrittenToday(RecordKind kind) => kind is >= RecordKind.Run and <= RecordKind.Quarantine or RecordKind.Forget;

    /// <summary>The body of a record, without header.</summary>
    public static byte[] Encode<T>(T body) where T : IRecordBody<T>
    {
        var bytes = new ArrayBufferWriter<byte>();
        var writer = new PayloadWriter(bytes);
        body.Write(ref writer);
        writer.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    /// <summary>A whole record, header and body.</summary>
    public static byte[] EncodeWhole<T>(T body) where T : IRecordBody<T>
    {
        byte[] content = Encode(body);
        var record = new byte[RecordHeader.Bytes + content.Length];
        new RecordHeader((uint)content.Length, T.Kind).Write(record);
        content.CopyTo(record, RecordHeader.Bytes);
        return record;
    }
}
