using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Makes records of pages: those of ordinary pages, and spanning ones once all their parts are there. A record whose
/// middle is lost is dropped.
/// </summary>
internal sealed class SpanningParts
{
    private readonly List<byte> _parts = [];
    private Lsn _lsn, _next;

    public void Add(PageBuffer page, List<LoggedRecord> records)
    {
        if (page.Flags is not (PageFlags.BeginsSpanning or PageFlags.ContinuesSpanning))
        {
            LogContent.Split(page.Records, page.RecordsLsn, records);
            return;
        }
        if (page.Flags == PageFlags.BeginsSpanning)
        {
            _parts.Clear();
            _lsn = page.RecordsLsn;
        }
        else if (page.Lsn != _next) return;
        _parts.AddRange(page.Records);
        _next = page.Next;
        if (page.Remaining == 0) LogContent.Split(_parts.ToArray(), _lsn, records);
    }
}
