using System.Globalization;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>One line of 'ambrosia log --pages'.</summary>
/// <param name="Offset">In the file.</param>
/// <param name="Bytes">Header and records, without padding.</param>
/// <param name="Kind">"records", "mark", "begins" or "continues" a spanning record.</param>
/// <param name="Remaining">Bytes of the spanning record that follow in later pages.</param>
internal sealed record PageEntry(
    ulong Lsn, string Time, ulong Epoch, string File, long Offset, int Bytes, string Kind, int Records, ulong DurableUpTo, uint Remaining,
    string Hash, string PreviousHash) : IReport
{
    public static PageEntry Of(PageBuffer page, LogSegment segment)
    {
        string kind = page.Flags switch
        {
            PageFlags.DurableMark => "mark",
            PageFlags.BeginsSpanning => "begins",
            PageFlags.ContinuesSpanning => "continues",
            _ => "records",
        };
        return new PageEntry(
            page.Lsn.Value, Wording.Time(page.TimeMicros), page.Header.Epoch.Value, segment.Name.ToString(),
            segment.Header.OffsetOf(page.Lsn), page.Length, kind,
            page.Flags == PageFlags.None ? Count(page) : 0, page.DurableUpTo.Value, page.Remaining, Wording.Hash(page.Hash),
            Wording.Hash(page.PreviousHash));
    }

    public void Draw(Screen screen) => screen.Line(string.Create(
        CultureInfo.InvariantCulture,
        $"{Lsn,12}  {Time}  {File,-10} byte {Offset,-10}  {Bytes,8} bytes  {Kind,-9}  {Records,6} records  durable up to {DurableUpTo,-12}  {Hash}{(Remaining > 0 ? $"  {Remaining} bytes to come" : "")}"));

    private static int Count(PageBuffer page)
    {
        int count = 0;
        new RecordAssembly().Take(page, (_, _, _, _, _) => ++count > 0);
        return count;
    }
}
