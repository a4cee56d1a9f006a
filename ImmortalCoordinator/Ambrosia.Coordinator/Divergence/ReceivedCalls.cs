using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Divergence;

/// <summary>
/// What a receiver's log holds of one sender's calls: what the sender's app did when the history was made. It only reads, forwards; numbers
/// are asked for in ascending order. Memory is the runs of one page, and those that were read ahead. One thread at a time.
/// </summary>
internal sealed class ReceivedCalls : IDisposable
{
    private readonly RecordAssembler _records = new();
    private readonly HashSet<uint> _origins = [];

    /// <summary>The runs that were read and not looked at yet, each with its position in the log.</summary>
    private readonly Queue<(Lsn At, byte[] Run)> _runs = new();

    private readonly (InstanceId Name, Guid Uuid) _sender;
    private readonly Func<ScanOptions, LogScan> _open;
    private readonly Lsn _from;
    private LogScan _scan;
    private long _aheadBytes;

    /// <summary>The offsets at which the messages of the first run begin. One more entry is the end of the last message.</summary>
    private readonly List<int> _starts = [];
    private byte[]? _current;
    private RunHeader _header;

    private ReceivedCalls(Func<ScanOptions, LogScan> open, InstanceId sender, Guid uuid)
    {
        _open = open;
        _scan = open(new ScanOptions());
        _from = _scan.From;
        _sender = (sender, uuid);
    }

    /// <summary>Opens the log of <paramref name="receiver"/>; null: <paramref name="why"/> it says nothing of the sender's calls.</summary>
    /// <param name="known">The receiver's UUID as the sender's log has it; null: it does not say it.</param>
    public static ReceivedCalls? TryOpen(
        IFileSystem files, string directory, InstanceId receiver, Guid? known, InstanceId sender, Guid uuid, out string why)
    {
        try
        {
            InstanceIdentity? identity = InstanceDirectory.TryRead(files, directory);
            why = identity is null ? $"there is no log at {directory}" : known is { } wanted && identity.Uuid != wanted
                ? $"the log at {directory} is not that of the {receiver} that was called" : "";
            if (why.Length > 0) return null;
            var calls = new ReceivedCalls(options => LogScan.Open(files, directory, identity!, options), sender, uuid);
            if (receiver == sender) calls._origins.Add(0);
            calls.LearnOrigins(files, directory, identity!);
            return calls;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or LogDamage or ProtocolViolation)
        {
            why = $"the log at {directory} cannot be read: {e.Message}";
            return null;
        }
    }

    /// <summary>
    /// The call of this number, whole as it stands in its run; false: the log does not hold it, not any more, or not yet.
    /// </summary>
    /// <param name="within">It is looked for in so many bytes from the log's beginning; null: up to its end.</param>
    public bool TryFind(ulong number, out MessageKind kind, out ReadOnlySpan<byte> message, ulong? within = null)
    {
        while (_current is null || _header.Last < number)
            if (!NextRun(within))
            {
                kind = default;
                message = default;
                return false;
            }
        kind = _header.Kind;
        message = default;
        if (number < _header.First) return false;
        int at = (int)(number - _header.First);
        message = RunView.Read(_current).Messages[_starts[at].._starts[at + 1]];
        return true;
    }

    /// <summary>The sender's records that made the run of the call that was found last; null: it does not say it.</summary>
    public RunCause? Cause => _current is null ? null : RunCause.In(RunView.Read(_current).Extensions);

    /// <summary>Reads so many bytes from the log's beginning before they are asked for.</summary>
    /// <param name="memory">It ends when what it has found has so many bytes.</param>
    public void ReadAhead(ulong within, long memory)
    {
        while (_aheadBytes < memory && ReadPage(within)) { }
    }

    /// <summary>Goes on where the log ended: what it has become longer by since is read, too.</summary>
    public void GoOn()
    {
        if (_scan.Verdict is not (ReadVerdict.CleanEnd or ReadVerdict.TornTail)) return;
        _scan.Dispose();
        _scan = _open(new ScanOptions { From = _scan.Verdict.End });
    }

    public void Dispose() => _scan.Dispose();

    /// <summary>A log whose beginning was truncated has its peers in the checkpoints; an id never changes its meaning.</summary>
    private void LearnOrigins(IFileSystem files, string directory, InstanceIdentity identity)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(files, directory))
        {
            try
            {
                using CheckpointReader checkpoint = CheckpointReader.Open(files, Path.Combine(directory, name.ToString()), identity);
                foreach (CheckpointPeer peer in CoordinatorPart.Read(checkpoint.CoordinatorBytes.Span).Peers)
                    if (peer.Origin != 0 && (peer.Peer, peer.Uuid) == _sender) _origins.Add(peer.Origin);
                return;
            }
            catch (Exception e) when (e is LogDamage or ProtocolViolation or FileNotFoundException) { } // an older one serves too
        }
    }

    private bool NextRun(ulong? within)
    {
        while (_runs.Count == 0)
            if (!ReadPage(within)) return false;
        if (!IsWithin(_runs.Peek().At, within)) return false;
        _current = _runs.Dequeue().Run;
        _aheadBytes -= _current.Length;
        RunView run = RunView.Read(_current);
        _header = run.Header;
        _starts.Clear();
        int at = 0;
        var messages = new MessageReader(run);
        while (messages.Next())
        {
            _starts.Add(at);
            at += messages.Whole.Length;
        }
        _starts.Add(at);
        return true;
    }

    private bool ReadPage(ulong? within)
    {
        if (!IsWithin(_scan.Position, within) || !_scan.Next()) return false;
        _records.Take(_scan.Page, Take);
        return true;
    }

    private bool IsWithin(Lsn at, ulong? within) => within is not { } bytes || (ulong)(at - _from) < bytes;

    private bool Take(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch)
    {
        if (kind == RecordKind.Peer && PeerRecord.Read(body) is var peer && (peer.Peer, peer.Uuid) == _sender) _origins.Add(peer.Origin);
        if (kind != RecordKind.Run || !_origins.Contains(RunHeader.Read(body).Peer)) return true;
        _runs.Enqueue((lsn, body.ToArray()));
        _aheadBytes += body.Length;
        return true;
    }
}
