using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Reads a log page by page, each with all its checks (log-format L4.2, L8). One thread. It opens one segment at a time and follows the chain;
/// a page that should be there and is not, or is damaged, is a halt: <see cref="LogDamage"/>.
/// </summary>
public sealed class LogReader : IDisposable
{
    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly InstanceIdentity _identity;
    private readonly LogChain _chain;

    // The open segment; both null or neither.
    private PageInspector? _inspector;
    private IFile? _file;

    // What the last page read in the open segment says about the one behind it; null after a jump.
    private (Lsn Lsn, ulong Hash, uint Remaining)? _expected;

    // The position that a checkpoint vouches for.
    private (Lsn Lsn, ulong Hash)? _vouched;

    /// <param name="dir">The replica set's directory; the chain names the files in it.</param>
    public LogReader(IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain)
    {
        _fs = fs;
        _dir = dir;
        _identity = identity;
        _chain = chain;
    }

    /// <summary>Highest position that a page or seal read so far states as durable: what a replica may act on (F3).</summary>
    public Lsn Stated { get; private set; }

    /// <summary>Tells the reader of a position that is durable by other knowledge: a page below it that is not there is a halt.</summary>
    public void Expect(Lsn durable)
    {
        if (durable > Stated) Stated = durable;
    }

    /// <summary>Tells the reader the hash of the page before <paramref name="pageLsn"/>, from a checkpoint: the chain is then checked from there.</summary>
    public void Vouch(Lsn pageLsn, ulong previousHash) => _vouched = (pageLsn, previousHash);

    /// <summary>Looks for new segments: a follower at the tail. True when there are.</summary>
    public bool RefreshChain() => _chain.Refresh(_fs, _dir, _identity);

    /// <summary>Reads the page at <paramref name="pageLsn"/>. A tail that is blank is not searched behind: <see cref="TakeOver"/> does that.</summary>
    /// <exception cref="LogDamage">L8.2.</exception>
    public ReadStatus Read(Lsn pageLsn, ref PageBuffer buffer)
    {
        if (!_chain.TryFind(pageLsn, out LogSegment segment, out Lsn end)) return _chain.Segments.IsEmpty ? ReadStatus.AtTail : ReadStatus.Gone;
        if (!TryOpen(segment, pageLsn)) return ReadStatus.Gone;
        if (segment.FirstLsn > Stated) Stated = segment.FirstLsn;
        bool isLast = end.Value == ulong.MaxValue;
        if (!isLast && end > Stated) Stated = end;

        PageFault? fault = Inspect(pageLsn, end, ref buffer);
        if (fault is not null && (!isLast || pageLsn < Stated || !fault.IsBlank)) fault = Judge(fault, pageLsn, end, isLast, ref buffer);
        if (fault is not null) return ReadStatus.AtTail;
        _expected = (buffer.Next, buffer.Hash, buffer.Remaining);
        if (buffer.DurableUpTo > Stated) Stated = buffer.DurableUpTo;
        return ReadStatus.Page;
    }

    public void Dispose() => _file?.Dispose();

    private bool TryOpen(LogSegment segment, Lsn pageLsn)
    {
        if (_inspector is not null && _inspector.Segment == segment) return true;
        CheckSeal(segment, pageLsn);
        IFile file;
        try
        {
            file = _fs.Open(segment.Path, FileUse.Read);
        }
        catch (FileNotFoundException)
        {
            return false;
        }
        _file?.Dispose();
        _file = file;
        _inspector = new PageInspector(segment);
        _expected = null;
        return true;
    }

    /// <summary>Crossing from a segment to its successor: what was read must be what the seal says stood before it.</summary>
    private void CheckSeal(LogSegment next, Lsn pageLsn)
    {
        if (_expected is not { } expected || expected.Lsn != pageLsn || pageLsn != next.FirstLsn) return;
        SegmentHeader header = next.Header, last = _inspector!.Segment.Header;
        if (header.PredecessorNumber != last.Number || header.PredecessorEpoch != last.Epoch) return;
        if (expected.Hash != header.PredecessorHash)
            throw new LogDamage(next.Path, 80, pageLsn, $"hash 0x{expected.Hash:X16} of the page before the seal", $"0x{header.PredecessorHash:X16}");
        if (expected.Remaining != 0) throw new LogDamage(next.Path, 72, pageLsn, "a seal behind a whole record", $"one with {expected.Remaining} bytes missing");
    }

    private PageFault? Inspect(Lsn lsn, Lsn end, ref PageBuffer buffer)
    {
        PageFault? fault = _inspector!.Read(_file!, lsn, end, PreviousHashOf(lsn), ref buffer);
        if (fault is not null || _expected is not { } expected || expected.Lsn != lsn) return fault;
        uint part = (uint)(buffer.Length - PageHeader.Bytes);
        bool continues = buffer.Flags == PageFlags.ContinuesSpanning;
        if (continues != (expected.Remaining != 0) || (continues && part + (ulong)buffer.Remaining != expected.Remaining))
            return new PageFault($"a page after which {expected.Remaining} bytes of a spanning record end", $"flags {buffer.Flags}, {part} bytes, remaining {buffer.Remaining}");
        return null;
    }

    private ulong? PreviousHashOf(Lsn lsn)
    {
        if (_expected is { } expected && expected.Lsn == lsn) return expected.Hash;
        if (lsn == _inspector!.Segment.FirstLsn) return _inspector.Segment.Header.PredecessorHash;
        return _vouched is { } vouched && vouched.Lsn == lsn ? vouched.Hash : null;
    }

    /// <summary>Halts unless the page turns out to be valid at a second look, or torn (L8.1, L8.2).</summary>
    private PageFault? Judge(PageFault fault, Lsn lsn, Lsn end, bool isLast, ref PageBuffer buffer)
    {
        Lsn stated = isLast ? Stated : end;
        if (stated <= lsn)
        {
            var search = new BehindSearch(_inspector!, _file!);
            search.Run(lsn, ref buffer);
            stated = search.Stated;
        }
        if (Inspect(lsn, end, ref buffer) is not { } again) return null;
        if (stated <= lsn) return again;
        LogSegment segment = _inspector!.Segment;
        throw new LogDamage(segment.Path, segment.Header.OffsetOf(lsn), lsn, $"{again.Expected}, because {stated} is stated to be durable", again.Found);
    }
}
