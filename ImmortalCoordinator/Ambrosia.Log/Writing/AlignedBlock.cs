using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.Log;

/// <summary>
/// Memory that never moves and begins at a multiple of 4,096, so that it may be written past the page cache. The collector frees it when nothing
/// refers to it any more, so no span can outlive it.
/// </summary>
internal sealed unsafe class AlignedBlock
{
    private readonly byte[] _array;
    private readonly int _offset;

    /// <param name="zeroed">False: whatever stood in the memory, which is not touched before it is used.</param>
    public AlignedBlock(int bytes, bool zeroed = true)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(bytes);
        _array = GC.AllocateUninitializedArray<byte>(checked(bytes + LogFormat.BlockBytes), pinned: true);
        nuint start = (nuint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_array));
        _offset = (int)((LogFormat.BlockBytes - start % LogFormat.BlockBytes) % LogFormat.BlockBytes);
        Length = bytes;
        if (zeroed) Span.Clear();
    }

    public int Length { get; }

    public Memory<byte> Memory => new(_array, _offset, Length);

    public Span<byte> Span => new(_array, _offset, Length);
}
