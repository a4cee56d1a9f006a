using System.Runtime.InteropServices;

namespace Ambrosia.Protocol.Payloads;

/// <summary>
/// Collects bytes that come in pieces into one stretch of memory outside the managed heap: it may be longer than an array, it is given back
/// at once when it is disposed, and growing it copies nothing where the operating system can move pages. One thread.
/// </summary>
public sealed unsafe partial class LargeBuffer : IDisposable
{
    private const long FirstBytes = 1 << 20;

    /// <summary>The advice to <c>madvise</c> that the pages are not needed any more; the next access finds zeros.</summary>
    private const int DontNeed = 4;

    private byte* _start;
    private long _capacity;

    ~LargeBuffer() => Free();

    /// <summary>The number of bytes that were appended.</summary>
    public long Length { get; private set; }

    /// <exception cref="OutOfMemoryException">The memory is not there.</exception>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (_capacity - Length < bytes.Length) Grow(Length + bytes.Length);
        bytes.CopyTo(new Span<byte>(_start + Length, bytes.Length));
        Length += bytes.Length;
    }

    /// <summary>
    /// Returns the bytes from a place to the end, or as many as a span holds. The view is valid until the next <see cref="Append"/>, and no
    /// longer than the buffer.
    /// </summary>
    public ReadOnlySpan<byte> From(long at)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((ulong)at, (ulong)Length);
        return new ReadOnlySpan<byte>(_start + at, (int)Math.Min(Length - at, int.MaxValue));
    }

    /// <summary>Returns bytes that are there, to be overwritten. The view is valid as long as that of <see cref="From"/>.</summary>
    public Span<byte> Writable(long at, int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfNegative(at);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(at, Length - length);
        return new Span<byte>(_start + at, length);
    }

    /// <summary>
    /// Gives the memory of bytes back that are never read again: whole pages of them, where the operating system takes such from the middle
    /// of an allocation. Their content is undefined from here on.
    /// </summary>
    public void Release(long from, long to)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((ulong)to, (ulong)Length);
        if (!OperatingSystem.IsLinux()) return;
        nuint page = (nuint)Environment.SystemPageSize;
        nuint start = ((nuint)_start + (nuint)from + page - 1) / page * page, end = ((nuint)_start + (nuint)to) / page * page;
        if (start < end) _ = MAdvise((void*)start, end - start, DontNeed); // where it fails, the memory goes with the buffer
    }

    public void Dispose()
    {
        Free();
        GC.SuppressFinalize(this);
    }

    /// <summary>Takes a quarter more than is needed: pages that are never touched cost nothing.</summary>
    private void Grow(long needed)
    {
        long capacity = Math.Max(FirstBytes, needed + needed / 4);
        _start = (byte*)NativeMemory.Realloc(_start, checked((nuint)capacity));
        _capacity = capacity;
    }

    [LibraryImport("libc", EntryPoint = "madvise")]
    private static partial int MAdvise(void* start, nuint length, int advice);

    private void Free()
    {
        NativeMemory.Free(_start);
        _start = null;
        _capacity = Length = 0;
    }
}
