using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Segments;

/// <summary>
/// One file of the log's chain, by its path and the header that was read from it. It opens the file for readers, and tells them when the
/// segment is gone.
/// </summary>
public sealed record LogSegment
{
    /// <summary>The pages of a segment begin behind this many bytes of its file (log-format L3).</summary>
    public const int HeaderBytes = SegmentHeader.Bytes;

    internal LogSegment(string path, SegmentHeader header)
    {
        Path = path;
        Header = header;
    }

    public string Path { get; }

    /// <summary>The position of the first page; also the seal, at which the predecessor ends.</summary>
    public Lsn FirstLsn => Header.FirstLsn;

    /// <summary>The epoch of the primary that made the segment.</summary>
    public Epoch Epoch => Header.Epoch;

    /// <summary>True when its pages are written past the page cache.</summary>
    public bool IsDirect => Header.IsDirect;

    internal SegmentHeader Header { get; }

    internal SegmentFileName Name => new(Header.Number, Header.Epoch);

    /// <summary>Makes the halt (log-format L8.2) for what stands at a page's place.</summary>
    /// <param name="because">Says why it cannot be a torn tail.</param>
    internal LogDamage DamageAt(Lsn page, PageFault fault, string because)
    {
        Lsn at = fault.Record ?? page;
        return new LogDamage(Path, Header.OffsetOf(at), at, $"{fault.Expected}, because {because}", fault.Found);
    }

    /// <summary>Reads bytes of the segment's file, which must be readable as long as the segment is part of the log.</summary>
    /// <exception cref="LogDamage">The disk does not give them back.</exception>
    internal static int Read(IFile file, Span<byte> bytes, long offset, string path)
    {
        try
        {
            return file.ReadSteadily(bytes, offset);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            throw new LogDamage(path, offset, null, $"{bytes.Length} bytes that can be read", e.Message);
        }
    }

    /// <summary>
    /// Reads the header again. False means that the file which a reader has open holds another header now, so it was recycled and the
    /// segment is gone; the header changes before anything else in the file does (log-format L3.5).
    /// </summary>
    internal bool IsStillIn(IFile file)
    {
        Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
        int count = Read(file, bytes, 0, Path);
        return count == SegmentHeader.Bytes && SegmentHeader.IsThatOf(bytes, Header);
    }

    /// <summary>
    /// Compares the length of the file with the one that its header states (log-format L3.6). A file that was recycled since the header was
    /// read is none of this segment any more, and any length is right.
    /// </summary>
    /// <exception cref="LogDamage">It is shorter or longer: nothing of ours makes it so.</exception>
    internal void CheckLength(IFile file)
    {
        if (DamageOfLength(file) is { } damage) throw damage;
    }

    /// <summary>Returns what <see cref="CheckLength"/> throws; null when the length is right.</summary>
    internal LogDamage? DamageOfLength(IFile file)
    {
        long length = file.Length;
        return length == Header.FileBytes || !IsStillIn(file) ? null
            : new LogDamage(Path, Math.Min(length, Header.FileBytes), null, $"a file of {Header.FileBytes} bytes, as its header states",
                $"one of {length} bytes");
    }

    /// <summary>
    /// Returns the app version in force behind the first page, which may bring another one into force than the header states; null: there
    /// is no sound header of that page.
    /// </summary>
    internal uint? VersionBehindFirstPage(IFileSystem fs)
    {
        using IFile? file = TryOpen(fs, isHeld: false);
        Span<byte> bytes = stackalloc byte[PageHeader.Bytes];
        if (file is null || Read(file, bytes, HeaderBytes, Path) != bytes.Length
            || !PageHeader.TryRead(bytes, PageHeader.SeedOf(Header.Uuid, Header.Shard), out PageHeader page)
            || page.Epoch != Epoch || page.Lsn != FirstLsn) return null;
        return page.Flags == PageFlags.StatesVersion ? page.AppVersion : Header.AppVersion;
    }

    /// <summary>Opens the segment's file for reading.</summary>
    /// <param name="isHeld">The file stays locked shared until it is closed, so that it is neither removed nor recycled meanwhile.</param>
    /// <param name="use">Reading, in one of its forms.</param>
    /// <returns>Null when the segment was truncated, or is being truncated.</returns>
    internal IFile? TryOpen(IFileSystem fs, bool isHeld, FileUse use = FileUse.ReadPages)
    {
        IFile file;
        try
        {
            file = fs.Open(Path, use);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
        // A file that was recycled between opening and locking holds another segment, so this one is gone as well.
        if (!isHeld || (file.TryLock(FileLockKind.Shared) && IsStillIn(file))) return file;
        file.Dispose();
        return null;
    }
}
