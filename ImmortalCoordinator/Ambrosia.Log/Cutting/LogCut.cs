using System.Text.Json;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Cutting;

/// <summary>
/// Copies a stretch of a log, with the checkpoint that it begins with, into a directory of its own, where it is a whole log again: as if
/// the log had rotated where the stretch begins and had been truncated there, and as if it had stood still behind it. Pages and checkpoint
/// are the bytes that they were, unless somebody rewrites them. The log itself is only read, and may be live. One thread, one use.
/// </summary>
/// <param name="from">The log.</param>
/// <param name="to">The same instance in an empty directory of somebody's own.</param>
/// <param name="rewriting">Null: nobody rewrites anything.</param>
public sealed class LogCut(LogLocation from, LogLocation to, ICutRewriting? rewriting = null)
{
    /// <summary>Describes the cut in its directory, and says that it is one: no coordinator runs it (log-format L1.8).</summary>
    public const string FileName = "cut.json";

    private const int CopyBytes = 1 << 20, DescriptionBytesMax = 16 << 20;

    private readonly RewrittenPages? _rewritten = rewriting is null ? null : new RewrittenPages(rewriting);
    private CutSegment? _open;

    /// <summary>Segments have higher numbers by this: the one that is cut apart counts as two.</summary>
    private ulong _shift;

    /// <summary>
    /// Says whether a directory holds a cut whose values were replaced by others, so that no hash in it tells what was called.
    /// </summary>
    public static bool IsMasked(IFileSystem files, string directory)
    {
        string path = Path.Combine(directory, FileName);
        if (!files.Exists(path)) return false;
        try
        {
            using IFile file = files.Open(path, FileUse.Read);
            byte[] json = new byte[Math.Min(file.Length, DescriptionBytesMax)];
            using JsonDocument description = JsonDocument.Parse(json.AsMemory(0, file.Read(json, 0)));
            return description.RootElement.TryGetProperty("masked", out JsonElement masked) && masked.ValueKind != JsonValueKind.Null;
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            return false; // whoever needs what it says refuses it
        }
    }

    /// <summary>Writes the cut. Where it fails, what it has made is left to whoever owns the directory.</summary>
    /// <param name="beginning">The checkpoint to begin with; null: the log's first record.</param>
    /// <param name="end">At least what stands below is copied, up to the end of its page.</param>
    /// <param name="progress">Hears how many bytes of log are copied.</param>
    /// <returns>All below is in the cut, and is stated as durable by a mark behind it, where the log itself may have more.</returns>
    /// <exception cref="LogDamage">The log or the checkpoint is damaged.</exception>
    /// <exception cref="FileNotFoundException">It was truncated meanwhile.</exception>
    public Lsn Write(CheckpointFileName? beginning, Lsn end, Action<long> progress)
    {
        Copy("instance");
        CheckpointHeader? checkpoint = beginning is null ? null : CopyCheckpoint(beginning);
        using LogScan scan = LogScan.Open(from.Files, from.Directory, from.Identity,
            new ScanOptions { From = checkpoint?.PageLsn, PreviousHash = checkpoint?.PreviousHash });
        try
        {
            while (scan.Next())
            {
                Add(scan);
                progress(scan.Position - scan.From);
                if (scan.Position >= end && scan.Page.Remaining == 0) break;
            }
            if (scan.Verdict is ReadVerdict.Halt halt) throw halt.Damage;
            if (scan.Verdict is ReadVerdict.Truncated)
                throw new FileNotFoundException($"{from.Directory}: the log at {scan.Position} was truncated while it was read");
            return End();
        }
        finally
        {
            _open?.Dispose();
        }
    }

    /// <summary>Copies one more file, by its name in both directories.</summary>
    /// <exception cref="FileNotFoundException">It is not there.</exception>
    public void Copy(string name)
    {
        byte[] buffer = new byte[CopyBytes];
        using IFile source = from.Files.Open(from.PathOf(name), FileUse.Read), copy = to.Files.Create(to.PathOf(name));
        long at = 0;
        for (int count; (count = source.Read(buffer, at)) > 0; at += count) copy.Write(buffer.AsSpan(0, count), at);
        copy.Flush();
    }

    private CheckpointHeader CopyCheckpoint(CheckpointFileName name)
    {
        if (rewriting is not null) return RewriteCheckpoint(name, rewriting);
        Copy(name.ToString());
        using CheckpointReader copy = CheckpointReader.Open(to.Files, to.PathOf(name.ToString()), to.Identity); // reads all of it
        return copy.Header;
    }

    private CheckpointHeader RewriteCheckpoint(CheckpointFileName name, ICutRewriting rewriting)
    {
        using CheckpointReader old = CheckpointReader.Open(from.Files, from.PathOf(name.ToString()), from.Identity);
        CheckpointHeader header = old.Header with { PreviousHash = HashBefore(old.Header.PageLsn, old.Header.PreviousHash) };
        using var anew = new CheckpointWriter(to.Files, to.Directory, to.Identity, header, ICrashPoints.None);
        rewriting.Rewrite(old, anew);
        anew.Finish();
        anew.Publish(header.Lsn);
        return old.Header;
    }

    /// <summary>Returns the hash that the first page of the cut states: nothing stands before the first of a log.</summary>
    private ulong HashBefore(Lsn page, ulong asItWas) => rewriting is null || page == Lsn.Zero ? asItWas : rewriting.PreviousHash;

    private void Add(LogScan scan)
    {
        SegmentHeader header = scan.Segment.Header;
        if (_open is null) _open = new CutSegment(to, BeginningAt(scan));
        else if (header.Number + _shift != _open.Header.Number)
        {
            _open.End();
            _open.Dispose();
            // Segments of the log in which nothing stands are in no cut, so the one before is not always the one that the header names.
            _open = new CutSegment(to, header with
            {
                Number = header.Number + _shift, PredecessorNumber = _open.Header.Number, PredecessorEpoch = _open.Header.Epoch,
                PredecessorHash = _open.LastHash,
            });
        }
        if (_rewritten is null) _open.Write(scan.Page);
        else _rewritten.Write(scan.Page, _open);
    }

    /// <summary>Returns the header of the segment that holds the first page: another one, unless that is the segment's first.</summary>
    private SegmentHeader BeginningAt(LogScan scan)
    {
        SegmentHeader header = scan.Segment.Header;
        PageBuffer first = scan.Page;
        if (first.Lsn == Lsn.Zero) return header with { PredecessorNumber = 0, PredecessorEpoch = default, PredecessorHash = 0 };
        ulong before = HashBefore(first.Lsn, first.PreviousHash);
        if (first.Lsn == header.FirstLsn) return header with { PredecessorHash = before };
        _shift = 1;
        return header with
        {
            Number = header.Number + 1, FirstLsn = first.Lsn, PredecessorNumber = header.Number, PredecessorEpoch = header.Epoch,
            PredecessorHash = before, AppVersion = scan.Chain.VersionAt(from.Files, first.Lsn),
            CreatedMicros = first.TimeMicros,
        };
    }

    private Lsn End()
    {
        CutSegment last = _open ?? throw new InvalidOperationException("a place that was found in a log is in none of its pages");
        Lsn end = last.Position;
        last.Mark();
        last.End();
        to.Files.Create(to.PathOf(new EpochFileName(to.Identity.Uuid, last.Header.Epoch).ToString())).Dispose();
        return end;
    }
}
