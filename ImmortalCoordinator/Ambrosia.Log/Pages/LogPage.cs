using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Pages;

/// <summary>
/// One page in memory. Writers share <see cref="State"/>; the rest belongs to the pool (under its lock) and, while the page is Committing,
/// to the committer.
/// </summary>
internal sealed class LogPage
{
    private readonly AlignedBlock _block;
    private readonly PageArena? _arena;
    private ulong _lsn;

    /// <summary>The word that writers of the page share.</summary>
    public PageState State;

    /// <summary>Makes a page of the pool.</summary>
    public LogPage(PageArena arena)
    {
        _arena = arena;
        _block = arena.Take();
        State.Close(PageHeader.Bytes);
    }

    /// <summary>Makes a page outside of the pool, for a spanning record.</summary>
    public LogPage(int bytes)
    {
        _block = new AlignedBlock(bytes, zeroed: false); // whatever is written to disk was filled or cleared before
        State.Close(PageHeader.Bytes);
    }

    /// <summary>True for a page of the pool; the pages of spanning records are outside of it.</summary>
    public bool IsPooled => _arena is not null;

    public int Capacity => _block.Length;
    public PagePhase Phase { get; set; }

    /// <summary>
    /// True while delivery reads the page, so that it is not opened again. One pinner at a time, because it may overwrite the header.
    /// </summary>
    public bool IsPinned { get; set; }

    /// <summary>Position of the page. It is set before the page is opened; writers read it after they have reserved.</summary>
    public Lsn Lsn
    {
        get => new(Volatile.Read(ref _lsn));
        set => Volatile.Write(ref _lsn, value.Value);
    }

    public PageFlags Flags { get; set; }
    public uint Remaining { get; set; }

    /// <summary>The app version that the page states; 0 for all pages but few.</summary>
    public uint AppVersion { get; set; }

    /// <summary>
    /// Checksum of the records, computed by the writer who filled the page and still had them in its cache; null when the committer has to
    /// compute it.
    /// </summary>
    public uint? PayloadCrc { get; set; }

    /// <summary>The header as it was written; valid from Committing on.</summary>
    public PageHeader Header { get; set; }

    /// <summary>Tells the arena that the page was sealed with so much in it that its memory is worth being in large pages.</summary>
    public void AdviseLargePages() => _arena?.AdviseLargePages();

    public Memory<byte> Memory => _block.Memory;

    public Span<byte> Bytes => _block.Span;

    /// <summary>The bytes that were reserved in the page, which are whole records or a part of one.</summary>
    public ReadOnlySpan<byte> Records => Bytes[PageHeader.Bytes..PageState.EndOf(State.Word)];
}

/// <summary>
/// The life of a page of the pool. Only the pool changes it, under its lock, and each page goes through the phases in this order.
/// </summary>
internal enum PagePhase
{
    /// <summary>The page holds nothing.</summary>
    Free,

    /// <summary>The page takes writers. At most one page is open.</summary>
    Open,

    /// <summary>The page is in the queue of the committer; writers may still be inside.</summary>
    Sealed,

    /// <summary>The page is in the commit group.</summary>
    Committing,

    /// <summary>The page is on disk, and is still readable here until it is opened again.</summary>
    Durable,
}

/// <summary>
/// The one word that writers of a page share: end of the reserved bytes (bits 32–62), writers inside (bits 1–31), sealed (bit 0). Every
/// page but the open one is sealed, so a compare-and-swap that succeeds on an unsealed word reserved room in the open page, however old the
/// writer's view of it was. The word has a cache line of its own, so that writers do not disturb readers of the page's other fields.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = 192)]
internal struct PageState
{
    private const long Sealed = 1, Writer = 2;
    private const int EndShift = 32;

    [FieldOffset(64)]
    private long _word;

    /// <summary>A snapshot of the word.</summary>
    public long Word => Volatile.Read(ref _word);

    public static bool IsSealed(long word) => (word & Sealed) != 0;

    public static int WritersOf(long word) => (int)((word >> 1) & 0x7FFF_FFFF);

    public static int EndOf(long word) => (int)(word >> EndShift);

    /// <summary>Opens an empty page for writers.</summary>
    public void Open() => Volatile.Write(ref _word, (long)PageHeader.Bytes << EndShift);

    /// <summary>Closes a page that takes no writers and holds bytes up to <paramref name="end"/>.</summary>
    public void Close(int end) => Volatile.Write(ref _word, ((long)end << EndShift) | Sealed);

    /// <summary>
    /// Closes a page as <see cref="Close"/> does, with one writer inside, who leaves when what he has to tell of the page is told.
    /// </summary>
    public void CloseInside(int end) => Volatile.Write(ref _word, ((long)end << EndShift) | Writer | Sealed);

    /// <summary>Reserves bytes and enters the page, unless the word has changed since the caller read it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReserve(long word, int bytes) =>
        Interlocked.CompareExchange(ref _word, word + ((long)bytes << EndShift) + Writer, word) == word;

    /// <summary>Leaves the page, and returns the word after that.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long Leave() => Interlocked.Add(ref _word, -Writer);

    /// <summary>Shuts writers out, and returns the word at that moment, whose end is final.</summary>
    public long Seal() => Interlocked.Or(ref _word, Sealed) | Sealed;

    /// <summary>
    /// Shuts writers out of the open page, except the caller, who leaves later. Returns the word at that moment, with the caller among its
    /// writers.
    /// </summary>
    public long SealInside() => Interlocked.Add(ref _word, Sealed + Writer);

    /// <summary>Shuts writers out if none ever reserved anything.</summary>
    public bool TrySealEmpty()
    {
        const long empty = (long)PageHeader.Bytes << EndShift;
        return Interlocked.CompareExchange(ref _word, empty | Sealed, empty) == empty;
    }
}

/// <summary>
/// Memory of a few pages, in whole large pages of the processor: the kernel and the disk's driver then handle a filled page as one piece,
/// where there were 256 (experiment 14). Large pages are asked for when a page of the arena is filled for the first time, so that a
/// log which is hardly written to takes its memory by 4 KiB. A system without large pages refuses, and nothing else is different. The
/// pool's lock guards it.
/// </summary>
internal sealed unsafe class PageArena
{
    private readonly AlignedBlock _block;
    private readonly int _pageBytes;
    private int _taken;
    private bool _isAdvised; // large pages were asked for, or make no sense

    public PageArena(int pageBytes)
    {
        bool isWhole = pageBytes is >= Libc.LargePageBytes / 2 and <= Libc.LargePageBytes ? Libc.LargePageBytes % pageBytes == 0
            : pageBytes % Libc.LargePageBytes == 0;
        _pageBytes = pageBytes;
        _isAdvised = !isWhole || !OperatingSystem.IsLinux();
        // Whatever is written to disk of this memory was filled or cleared before.
        _block = new AlignedBlock(isWhole ? Math.Max(pageBytes, Libc.LargePageBytes) : pageBytes, zeroed: false,
            isWhole ? Libc.LargePageBytes : LogFormat.BlockBytes);
    }

    public bool HasRoom => (_taken + 1) * _pageBytes <= _block.Length;

    /// <summary>Takes the memory of the next page.</summary>
    public AlignedBlock Take() => _block.Slice(_taken++ * _pageBytes, _pageBytes);

    /// <summary>Asks for large pages: a page of the arena holds more than the pages of a quiet log do.</summary>
    public void AdviseLargePages()
    {
        if (_isAdvised) return;
        _isAdvised = true;
        void* start = Unsafe.AsPointer(ref MemoryMarshal.GetReference(_block.Span)); // it never moves
        if (Libc.MAdvise(start, (nuint)_block.Length, Libc.LargePages) == 0)
            _ = Libc.MAdvise(start, (nuint)_block.Length, Libc.CollapseNow);
    }
}
