using System.Runtime.InteropServices;
using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A kernel with one file in memory that does as little as it may: each transfer moves at most as many bytes as a script says, and a
/// planned call fails with an errno. Numbers all calls from 1. One thread.
/// </summary>
internal sealed unsafe class PartialCalls : SystemCalls
{
    private byte[] _content = [];

    /// <summary>The most bytes that call n of a transfer moves.</summary>
    public Func<int, int> BytesMax { get; init; } = static _ => int.MaxValue;

    /// <summary>The errno with which call n fails; 0 when it does not fail.</summary>
    public Func<int, int> Errno { get; init; } = static _ => 0;

    /// <summary>Plants a bug: the last byte of a write is counted and not moved.</summary>
    public bool IsLying { get; set; }

    public int Calls { get; private set; }

    public int Flushes { get; private set; }

    public long Allocated { get; private set; }

    public bool IsLocked { get; private set; }

    public int Closed { get; private set; }

    public ReadOnlySpan<byte> Content => _content;

    public static PartialCalls Holding(ReadOnlySpan<byte> content, Func<int, int>? bytesMax = null, Func<int, int>? errno = null) =>
        new() { _content = content.ToArray(), BytesMax = bytesMax ?? (static _ => int.MaxValue), Errno = errno ?? (static _ => 0) };

    public override nint PRead(int fd, byte* buffer, nuint count, long offset)
    {
        if (Begin() is not { } max) return -1;
        int there = (int)Math.Clamp(_content.Length - offset, 0, (long)Math.Min(count, (nuint)max));
        _content.AsSpan((int)Math.Min(offset, _content.Length), there).CopyTo(new Span<byte>(buffer, there));
        return there;
    }

    public override nint PWrite(int fd, byte* buffer, nuint count, long offset)
    {
        if (Begin() is not { } max) return -1;
        int done = (int)Math.Min(count, (nuint)max);
        Put(new ReadOnlySpan<byte>(buffer, IsLying ? done - 1 : done), offset);
        return done;
    }

    public override nint PWriteV(int fd, Libc.IoVector* parts, int count, long offset)
    {
        if (Begin() is not { } max) return -1;
        int done = 0;
        for (int i = 0; i < count && done < max; i++)
        {
            int part = (int)Math.Min(parts[i].Length, (nuint)(max - done));
            Put(new ReadOnlySpan<byte>(parts[i].Start, part), offset + done);
            done += part;
        }
        return done;
    }

    public override int FDataSync(int fd)
    {
        if (Begin() is null) return -1;
        Flushes++;
        return 0;
    }

    public override int FTruncate(int fd, long length)
    {
        if (Begin() is null) return -1;
        Array.Resize(ref _content, (int)length);
        return 0;
    }

    public override int FAllocate(int fd, int mode, long offset, long length)
    {
        if (Begin() is null) return -1;
        Allocated = offset + length;
        return 0;
    }

    public override int FLock(int fd, int operation)
    {
        if (Begin() is null) return -1;
        IsLocked = (operation & Libc.LockUnlock) == 0;
        return 0;
    }

    public override int Close(int fd)
    {
        Closed++;
        return 0;
    }

    /// <summary>Returns the most bytes that this call moves; null when it fails, and then errno is set.</summary>
    private int? Begin()
    {
        int call = ++Calls, errno = Errno(call);
        if (errno == 0) return BytesMax(call);
        Marshal.SetLastPInvokeError(errno);
        return null;
    }

    private void Put(ReadOnlySpan<byte> bytes, long offset)
    {
        if (offset + bytes.Length > _content.Length) Array.Resize(ref _content, (int)offset + bytes.Length);
        bytes.CopyTo(_content.AsSpan((int)offset));
    }
}
