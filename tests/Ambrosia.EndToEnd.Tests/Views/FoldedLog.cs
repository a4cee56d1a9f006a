using Ambrosia.Coordinator.Replay;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A log as its records alone say it, from its beginning to any place. It goes on from the place before, or begins again.
/// </summary>
internal sealed class FoldedLog(string directory)
{
    private readonly PosixFileSystem _files = new();
    private ReplayState _state = new();
    private Lsn _page, _at;

    public ReplayState At(Lsn place)
    {
        if (place < _at) (_state, _page, _at) = (new ReplayState(), Lsn.Zero, Lsn.Zero);
        using LogScan scan = LogScan.Open(
            _files, directory, InstanceDirectory.TryRead(_files, directory)!, new ScanOptions { From = _page });
        while (_page < place && scan.Next())
        {
            _page = scan.Page.Lsn;
            if (_page < place && !scan.Page.Flags.HasFlag(PageFlags.ContinuesSpanning))
                PageFold.Fold(_state, scan.Page.Records, scan.Page.RecordsLsn, scan.Page.Remaining, _at, place);
            if (scan.Page.Next > place) break;
        }
        _at = place;
        return _state;
    }
}
