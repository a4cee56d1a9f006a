using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Gets whole records out of pages: a spanning one is put together from its parts (log-format L4.3). Memory is one record at most.
/// </summary>
public sealed class RecordAssembly
{
    /// <summary>Gets a whole record.</summary>
    /// <returns>False: no more are wanted.</returns>
    public delegate bool Taker(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch);

    private readonly ArrayBufferWriter<byte> _spanning = new();
    private Lsn _spanningLsn;
    private long _spanningTime;

    /// <summary>Passes on the records that end in this page.</summary>
    /// <exception cref="ProtocolViolation">L5.</exception>
    public bool Take(PageBuffer page, Taker taker)
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
                return page.Remaining > 0 || TakeSpanning(page.Header.Epoch, taker);
            default:
                _spanning.ResetWrittenCount();
                return TakeAll(page.Records, page.RecordsLsn, page.TimeMicros, page.Header.Epoch, taker);
        }
    }

    private bool TakeSpanning(Epoch epoch, Taker taker)
    {
        bool goOn = TakeAll(_spanning.WrittenSpan, _spanningLsn, _spanningTime, epoch, taker);
        _spanning.Clear();
        return goOn;
    }

    private static bool TakeAll(ReadOnlySpan<byte> records, Lsn lsn, long timeMicros, Epoch epoch, Taker taker)
    {
        while (!records.IsEmpty)
        {
            RecordHeader header = RecordHeader.Read(records);
            int size = RecordHeader.Bytes + (int)header.Length;
            if (!taker(lsn, header.Kind, records[RecordHeader.Bytes..size], timeMicros, epoch)) return false;
            records = records[size..];
            lsn += size;
        }
        return true;
    }
}
