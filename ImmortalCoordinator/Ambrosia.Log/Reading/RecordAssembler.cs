using System.Buffers;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Gets whole records out of pages, and puts a spanning record together from its parts (log-format L4.3). It uses the memory of one record
/// at most. One thread.
/// </summary>
public sealed class RecordAssembler
{
    /// <summary>Handles one whole record.</summary>
    /// <returns>False when no more records are wanted.</returns>
    public delegate bool RecordHandler(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch);

    private readonly ArrayBufferWriter<byte> _spanning = new();
    private Lsn _spanningLsn;
    private long _spanningTime;

    /// <summary>Passes on the records that end in this page. Returns false when the handler wants no more.</summary>
    /// <exception cref="ProtocolViolation">A record breaks L5.</exception>
    public bool Take(PageBuffer page, RecordHandler handle)
    {
        switch (page.Flags)
        {
            case PageFlags.DurableMark:
                return true;
            case PageFlags.BeginsSpanning:
                _spanning.ResetWrittenCount();
                _spanningLsn = page.RecordsLsn;
                _spanningTime = page.TimeMicros;
                _spanning.Write(page.Records);
                return true;
            case PageFlags.ContinuesSpanning when _spanning.WrittenCount == 0: // reading began inside it
                return true;
            case PageFlags.ContinuesSpanning:
                _spanning.Write(page.Records);
                return page.Remaining > 0 || TakeSpanning(page.Header.Epoch, handle);
            default:
                _spanning.ResetWrittenCount();
                return TakeAll(page.Records, page.RecordsLsn, page.TimeMicros, page.Header.Epoch, handle);
        }
    }

    private bool TakeSpanning(Epoch epoch, RecordHandler handle)
    {
        bool goOn = TakeAll(_spanning.WrittenSpan, _spanningLsn, _spanningTime, epoch, handle);
        _spanning.Clear();
        return goOn;
    }

    private static bool TakeAll(ReadOnlySpan<byte> records, Lsn lsn, long timeMicros, Epoch epoch, RecordHandler handle)
    {
        while (!records.IsEmpty)
        {
            RecordHeader header = RecordHeader.Read(records);
            int size = RecordHeader.Bytes + (int)header.Length;
            if (!handle(lsn, header.Kind, records[RecordHeader.Bytes..size], timeMicros, epoch)) return false;
            records = records[size..];
            lsn += size;
        }
        return true;
    }
}
