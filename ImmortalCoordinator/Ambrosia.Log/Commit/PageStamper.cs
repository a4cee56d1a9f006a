using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Commit;

/// <summary>
/// Completes pages before they are written: padding, checksums, and a header that chains the page to the one before and states what is
/// durable below it (log-format L4). Invariant: times never decrease along the log, whatever the clock does. Only the committer uses it.
/// </summary>
/// <param name="own">The header of the first segment that this process wrote. No page that stands before it has a later time.</param>
/// <param name="lastHash">Hash of the last page before those that are stamped here.</param>
internal sealed class PageStamper(SegmentHeader own, LogClock clock, ulong lastHash)
{
    private readonly Epoch _epoch = own.Epoch;
    private readonly uint _seed = PageHeader.SeedOf(own.Uuid, own.Shard);

    /// <summary>The hash of the last page stamped (L4.5).</summary>
    public ulong LastHash { get; private set; } = lastHash;

    /// <summary>The time of the last page stamped, µs since 1970.</summary>
    public long LastTimeMicros { get; private set; } = own.CreatedMicros;

    /// <summary>Completes the pages of a group, which all get the same time.</summary>
    /// <param name="durable">Every page below this is flushed and fence-checked.</param>
    public void Stamp(List<LogPage> pages, Lsn durable)
    {
        LastTimeMicros = Math.Max(LastTimeMicros, clock.NowMicros());
        foreach (LogPage page in pages) Stamp(page, durable);
    }

    private void Stamp(LogPage page, Lsn durable)
    {
        int length = PageState.EndOf(page.State.Word);
        Span<byte> bytes = page.Bytes;
        bytes[length..AlignedBlock.RoundUp(length)].Clear();
        page.Header = new PageHeader(
            length, page.Flags, _epoch, page.Lsn, durable, LastTimeMicros, LastHash, page.PayloadCrc ?? Crc32C.Of(page.Records),
            page.Remaining, page.AppVersion);
        page.Header.Write(bytes, _seed);
        LastHash = PageHeader.HashOf(bytes);
    }
}
