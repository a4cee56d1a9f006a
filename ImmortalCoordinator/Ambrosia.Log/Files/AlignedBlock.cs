using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.Log.Files;

/// <summary>
/// Owns memory that never moves and begins at a multiple of 4,096, so that it may be written past the page cache. The collector frees it
/// when nothing refers to it any more, so no span can outlive it.
/// </summary>
internal sealed unsafe class AlignedBlock
{
    /// <summary>Direct input and output need memory, offsets and lengths in multiples of this many bytes.</summary>
    public const int Alignment = 4_096;

    private readonly byte[] _array;
    private readonly int _offset;

    /// <param name="zeroed">False leaves whatever stood in the memory and does not touch it before it is used.</param>
    /// <param name="alignment">The address of the first byte is a multiple of this, itself a multiple of 4,096.</param>
    public AlignedBlock(int bytes, bool zeroed = true, int alignment = Alignment)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(bytes);
        _array = GC.AllocateUninitializedArray<byte>(checked(bytes + alignment), pinned: true);
        nuint start = (nuint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_array)), step = (nuint)alignment;
        _offset = (int)((step - start % step) % step);
        Length = bytes;
        if (zeroed) Span.Clear();
    }

    private AlignedBlock(byte[] array, int offset, int length)
    {
        _array = array;
        _offset = offset;
        Length = length;
    }

    public int Length { get; }

    public Memory<byte> Memory => new(_array, _offset, Length);

    public Span<byte> Span => new(_array, _offset, Length);

    /// <summary>Returns a part of the block, over the same memory.</summary>
    /// <param name="offset">A multiple of 4,096.</param>
    public AlignedBlock Slice(int offset, int length)
    {
        if (offset % Alignment != 0 || length <= 0 || offset + length > Length)
            throw new ArgumentOutOfRangeException(nameof(offset), offset, $"{length} bytes of {Length}");
        return new AlignedBlock(_array, _offset + offset, length);
    }

    /// <summary>Returns the next multiple of <see cref="Alignment"/>, or <paramref name="length"/> itself if it is one.</summary>
    public static int RoundUp(int length) => checked(length + (Alignment - 1)) & ~(Alignment - 1);

    /// <inheritdoc cref="RoundUp(int)"/>
    public static long RoundUp(long length) => checked(length + (Alignment - 1)) & ~(Alignment - 1L);
}
