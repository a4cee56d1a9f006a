using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.Log;

/// <summary>
/// Memory of a few pages, in whole large pages of the processor: the kernel and the disk's driver then handle a filled page as one piece,
/// where there were 256 (docs/decisions/0014). Asked for when a page of it is filled for the first time, so that a log that is hardly
/// written to takes its memory by 4 KiB; a system without large pages answers no, and nothing else is different. Under the pool's lock.
/// </summary>
internal sealed unsafe class PageArea
{
    private readonly AlignedBlock _block;
    private readonly int _pageBytes;
    private int _given;
    private bool _isSettled; // it was asked for, or makes no sense

    public PageArea(int pageBytes)
    {
        bool isWhole = pageBytes is >= Libc.LargePageBytes / 2 and <= Libc.LargePageBytes ? Libc.LargePageBytes % pageBytes == 0
            : pageBytes % Libc.LargePageBytes == 0;
        _pageBytes = pageBytes;
        _isSettled = !isWhole || !OperatingSystem.IsLinux();
        // What is written of it was filled or cleared before.
        _block = new AlignedBlock(isWhole ? Math.Max(pageBytes, Libc.LargePageBytes) : pageBytes, zeroed: false,
            isWhole ? Libc.LargePageBytes : LogFormat.BlockBytes);
    }

    public bool HasRoom => (_given + 1) * _pageBytes <= _block.Length;

    /// <summary>Memory of the next page.</summary>
    public AlignedBlock Take() => _block.Slice(_given++ * _pageBytes, _pageBytes);

    /// <summary>A page of it has more in it than a quiet log's pages have.</summary>
    public void WasFilled()
    {
        if (_isSettled) return;
        _isSettled = true;
        void* start = Unsafe.AsPointer(ref MemoryMarshal.GetReference(_block.Span)); // it never moves
        if (Libc.MAdvise(start, (nuint)_block.Length, Libc.LargePages) == 0)
            _ = Libc.MAdvise(start, (nuint)_block.Length, Libc.CollapseNow);
    }
}
