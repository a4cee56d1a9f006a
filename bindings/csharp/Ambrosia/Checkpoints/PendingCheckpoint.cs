using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Checkpoints;

/// <summary>
/// The checkpoint that this replica owes (protocol P5.8): that of the newest mark that asks it for one, until it is taken or void. It is
/// taken at the first record boundary behind the mark where nothing is suspended, at the latest where the bound of the mark, or of one that
/// it replaced, ends. That is a rule of the log alone, so every replica finds the same place. Thread: the scheduler's.
/// </summary>
internal sealed class PendingCheckpoint(Epoch epoch, string replica)
{
    /// <summary>The time after which a checkpoint is reported as waiting, in µs of page time.</summary>
    private const long PatienceUs = 10_000_000;

    private Lsn _mark;
    private long _markTimeUs;
    private bool _reported;

    /// <summary>The Lsn from which on it is taken with whatever is suspended; null: never.</summary>
    private Lsn? _latest;

    internal bool IsDue { get; private set; }

    internal Lsn Mark => _mark;

    /// <param name="isPrimary">A primary is asked by its name only; a secondary by every mark, since all of them compare.</param>
    internal void Take(CheckpointMarkRecord record, Lsn lsn, long timeUs, bool isPrimary)
    {
        if (record.Epoch < epoch || (isPrimary && record.Replica != replica)) return;
        Lsn? bound = record.BoundBytes == 0 || record.BoundBytes > long.MaxValue - lsn.Value ? null
            : new Lsn(lsn.Value + record.BoundBytes);
        if (!IsDue || _latest is null || bound < _latest) _latest = bound;
        IsDue = true;
        _mark = lsn;
        _markTimeUs = timeUs;
        _reported = false;
    }

    /// <param name="boundary">End of the record that was executed last.</param>
    internal bool MustTake(Lsn boundary, bool isQuiet) => IsDue && (isQuiet || boundary >= _latest);

    /// <summary>True once for each mark: the checkpoint has waited for too long.</summary>
    internal bool ShouldReport(long timeUs)
    {
        if (!IsDue || _reported || timeUs - _markTimeUs <= PatienceUs) return false;
        return _reported = true;
    }

    internal void Done() => IsDue = false;
}

/// <summary>
/// Collects the image that a session begins with (protocol P5.7), and checks its length and hash. It owns the one copy of it, and gives it
/// back when it is disposed. Thread: the scheduler's.
/// </summary>
internal sealed class ImageReceiver : IDisposable
{
    private readonly LargeBuffer _bytes = new();
    private ulong _hash;

    internal void Begin(ImageBegin begin, Lsn expected)
    {
        if (begin.Position != expected)
            throw new ProtocolViolation("P5.7", $"an image at Lsn {begin.Position} where Welcome said {expected}");
    }

    internal void Add(ReadOnlySpan<byte> chunk)
    {
        _bytes.Append(chunk);
        _hash = ChannelHash.Append(_hash, chunk);
    }

    internal LargeBuffer End(ImageEnd end)
    {
        if (end.Length != (ulong)_bytes.Length)
            throw new ProtocolViolation("P5.7", $"an image of {_bytes.Length} bytes that says {end.Length}");
        return end.Hash == _hash ? _bytes : throw new ProtocolViolation("P5.7", "an image with a wrong checksum");
    }

    public void Dispose() => _bytes.Dispose();
}
