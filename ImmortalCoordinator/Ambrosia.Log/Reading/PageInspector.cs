using System.Buffers.Binary;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Decides whether the bytes at a position of one segment are a valid page (log-format L4.2). It never throws for damage: whether the fault
/// means torn or halt depends on the rest of the log, so its caller decides that (L8). Any thread.
/// </summary>
internal sealed class PageInspector(LogSegment segment)
{
    private readonly uint _seed = PageHeader.SeedOf(segment.Header.Uuid, segment.Header.Shard);

    public LogSegment Segment { get; } = segment;

    /// <summary>Reads the page at <paramref name="lsn"/> and checks all of it.</summary>
    /// <param name="end">The segment ends here by its successor's seal.</param>
    /// <param name="previousHash">Hash of the page before; null when it is not known, and then it is not checked (L8.3).</param>
    /// <returns>What is wrong, or null when the page is in the buffer. A page whose content breaks a rule, though it is intact, is in the
    /// buffer too.</returns>
    public PageFault? Read(IReadable file, Lsn lsn, Lsn end, ulong? previousHash, ref PageBuffer buffer)
    {
        try
        {
            return ReadPage(file, lsn, end, previousHash, ref buffer);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            return PageFault.Unreadable(e);
        }
    }

    private PageFault? ReadPage(IReadable file, Lsn lsn, Lsn end, ulong? previousHash, ref PageBuffer buffer)
    {
        long offset = Segment.Header.OffsetOf(lsn);
        int count = file.ReadSteadily(buffer.Room[..LogFormat.BlockBytes], offset);
        if (count < LogFormat.BlockBytes && CheckLength(offset + count) is { } cut) return cut;
        ReadOnlySpan<byte> block = buffer.Room[..count];
        if (!block.ContainsAnyExcept((byte)0))
            return new PageFault($"a page of epoch {Segment.Header.Epoch}", count == 0 ? "the end of the file" : "zeros", IsBlank: true);
        if (count < PageHeader.Bytes) return new PageFault("a page header", $"{count} bytes");
        if (CheckHeader(block, lsn, end, previousHash, out PageHeader header) is { } fault) return fault;

        PageBuffer.Grow(ref buffer, header.Footprint, count);
        if (header.Footprint > LogFormat.BlockBytes)
            count += file.ReadSteadily(buffer.Room[count..header.Footprint], offset + count);
        if (count < header.Footprint && CheckLength(offset + count) is { } cutInside) return cutInside;
        if (count < header.Footprint) return new PageFault($"a page of {header.Footprint} bytes", $"{count} bytes to the end of the file");
        if (CheckSums(buffer.Room[..header.Footprint], header) is { } damage) return damage;
        buffer.Header = header;
        buffer.Hash = PageHeader.HashOf(buffer.Room);
        return CheckContent(buffer.Room[PageHeader.Bytes..header.Length], header, Segment.FirstLsn);
    }

    /// <summary>
    /// Returns true when a block begins with a whole page header of this segment's epoch and instance, whatever its position.
    /// </summary>
    public bool TryReadHeader(ReadOnlySpan<byte> block, out PageHeader header)
    {
        header = default;
        return block.Length >= PageHeader.Bytes && BinaryPrimitives.ReadUInt32LittleEndian(block) == PageHeader.Magic
            && PageHeader.Read(block, _seed, out header) is null && header.Epoch == Segment.Header.Epoch;
    }

    /// <summary>Says that the file was cut, if it ends before the place that its header states.</summary>
    private PageFault? CheckLength(long end) => end >= Segment.Header.FileBytes ? null
        : new PageFault($"a file of {Segment.Header.FileBytes} bytes", $"one of {end} bytes", IsCut: true);

    private PageFault? CheckHeader(ReadOnlySpan<byte> block, Lsn lsn, Lsn end, ulong? previousHash, out PageHeader header)
    {
        PageFault? fault = PageHeader.Read(block, _seed, out header);
        if (fault is { IsIntact: false }) return fault;
        if (header.Epoch != Segment.Header.Epoch) return new PageFault($"a page of epoch {Segment.Header.Epoch}", $"epoch {header.Epoch}");
        if (header.Lsn != lsn)
            return new PageFault($"the page of Lsn {lsn}", $"that of {header.Lsn}", IsStale: header.Lsn < Segment.FirstLsn);
        if (previousHash is { } hash && hash != header.PreviousHash)
            return new PageFault($"previous hash 0x{hash:X16}", $"0x{header.PreviousHash:X16}");
        if (fault is not null) return fault;
        if (header.Next > end) return new PageFault($"a page that ends before the seal at {end}", $"length {header.Length}");
        return null;
    }

    private static PageFault? CheckSums(ReadOnlySpan<byte> page, in PageHeader header)
    {
        uint crc = Crc32C.Of(page[PageHeader.Bytes..header.Length]);
        if (crc != header.PayloadCrc) return new PageFault($"payloadCrc 0x{header.PayloadCrc:X8}", $"0x{crc:X8}");
        return page[header.Length..].ContainsAnyExcept((byte)0) ? new PageFault("zeros behind the records", "other bytes") : null;
    }

    /// <summary>Checks what the writer of a page whose sums are right must have kept to.</summary>
    private static PageFault? CheckContent(ReadOnlySpan<byte> payload, in PageHeader header, Lsn first) => header.Flags switch
    {
        PageFlags.StatesVersion => CheckVersion(payload, header, first),
        PageFlags.BeginsSpanning => CheckSpanningBegin(payload, header),
        PageFlags.ContinuesSpanning => payload.Length > 0 ? null : new PageFault("a part of a spanning record", "nothing").OfIntactPage(),
        PageFlags.DurableMark => null,
        _ => CheckRecords(payload, header),
    };

    private static PageFault? CheckSpanningBegin(ReadOnlySpan<byte> payload, in PageHeader header)
    {
        if (payload.Length < RecordHeader.Bytes)
            return new PageFault("the header of a spanning record", $"{payload.Length} bytes").OfIntactPage();
        long record = RecordHeader.Bytes + (long)BinaryPrimitives.ReadUInt32LittleEndian(payload);
        if (record != payload.Length + (long)header.Remaining)
            return new PageFault($"a spanning record of {payload.Length + (long)header.Remaining} bytes", $"one of {record}")
                .OfIntactPage();
        return CheckKind(payload, header.Lsn + PageHeader.Bytes);
    }

    private static PageFault? CheckRecords(ReadOnlySpan<byte> payload, in PageHeader header)
    {
        if (payload.Length == 0) return new PageFault("a record", "an empty page without a durable mark").OfIntactPage();
        for (int at = 0; at < payload.Length;)
        {
            int left = payload.Length - at - RecordHeader.Bytes;
            uint length = left < 0 ? 0 : BinaryPrimitives.ReadUInt32LittleEndian(payload[at..]);
            Lsn lsn = header.Lsn + (PageHeader.Bytes + at);
            if (left < 0 || length > (uint)left)
                return new PageFault("whole records", $"{payload.Length - at} bytes of a record of {length}").OfIntactPage(lsn);
            if (CheckKind(payload[at..], lsn) is { } fault) return fault;
            at += RecordHeader.Bytes + (int)length;
        }
        return null;
    }

    /// <summary>Checks L4.6: the page begins its segment and holds one record, which brings the version of the header into force.</summary>
    private static PageFault? CheckVersion(ReadOnlySpan<byte> payload, in PageHeader header, Lsn first)
    {
        if (header.Lsn != first)
            return new PageFault("a page that states an app version where its segment begins", $"one at {header.Lsn}").OfIntactPage();
        Lsn lsn = header.Lsn + PageHeader.Bytes;
        try
        {
            RecordHeader record = RecordHeader.Read(payload);
            ReadOnlySpan<byte> body = payload[RecordHeader.Bytes..];
            if (record.Length != body.Length)
                return new PageFault("one record on a page that states an app version", $"{payload.Length} bytes").OfIntactPage(lsn);
            uint version = record.Kind switch
            {
                RecordKind.FirstStart when first == Lsn.Zero => FirstStartRecord.Read(body).AppVersion,
                RecordKind.Upgrade when first != Lsn.Zero => UpgradeRecord.Read(body).VersionTo,
                _ => 0,
            };
            return version == header.AppVersion ? null
                : new PageFault($"a record that brings app version {header.AppVersion} into force", $"{record.Kind}, version {version}")
                    .OfIntactPage(lsn);
        }
        catch (ProtocolViolation broken)
        {
            return new PageFault($"a record that brings app version {header.AppVersion} into force", broken.Message).OfIntactPage(lsn);
        }
    }

    private static PageFault? CheckKind(ReadOnlySpan<byte> record, Lsn lsn)
    {
        uint word = BinaryPrimitives.ReadUInt32LittleEndian(record[4..]);
        if (word is (uint)RecordKind.FirstStart or (uint)RecordKind.Upgrade)
            return new PageFault("a page of its own that states the app version", $"{(RecordKind)word} among others").OfIntactPage(lsn);
        if (word <= byte.MaxValue && RecordKinds.IsDefined((RecordKind)word)) return null;
        return new PageFault("a record of a kind that this version knows", $"kind 0x{word:X}: written by a newer version")
            .OfIntactPage(lsn);
    }
}
