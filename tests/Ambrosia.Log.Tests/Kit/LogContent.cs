using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

/// <summary>Reads a log from a page to its tail, with every check, and puts spanning records together.</summary>
internal static class LogContent
{
    public static List<LoggedRecord> Read(IFileSystem fs, string dir, Lsn from = default) => Read(fs, dir, out _, from);

    public static List<LoggedRecord> Read(IFileSystem fs, string dir, out Lsn end, Lsn from = default)
    {
        InstanceIdentity identity = InstanceDirectory.TryRead(fs, dir)!;
        using var reader = new LogReader(fs, dir, identity, LogChain.Load(fs, dir, identity));
        return Read(reader, out end, from);
    }

    public static List<LoggedRecord> Read(LogReader reader, out Lsn end, Lsn from = default)
    {
        var records = new List<LoggedRecord>();
        var buffer = new PageBuffer(4_096);
        var spanning = new List<byte>();
        Lsn spanningLsn = default;
        end = from;
        while (reader.Read(end, ref buffer) == ReadStatus.Page)
        {
            if (buffer.Flags == PageFlags.BeginsSpanning) spanningLsn = buffer.RecordsLsn;
            if (buffer.Flags is PageFlags.BeginsSpanning or PageFlags.ContinuesSpanning)
            {
                spanning.AddRange(buffer.Records);
                if (buffer.Remaining == 0)
                {
                    Split([.. spanning], spanningLsn, records);
                    spanning.Clear();
                }
            }
            else Split(buffer.Records, buffer.RecordsLsn, records);
            end = buffer.Next;
        }
        return records;
    }

    public static void Split(ReadOnlySpan<byte> bytes, Lsn lsn, List<LoggedRecord> records)
    {
        while (bytes.Length > 0)
        {
            RecordHeader header = RecordHeader.Read(bytes);
            int size = RecordHeader.Bytes + (int)header.Length;
            records.Add(new LoggedRecord(lsn, header.Kind, bytes[RecordHeader.Bytes..size].ToArray()));
            bytes = bytes[size..];
            lsn += size;
        }
    }
}
