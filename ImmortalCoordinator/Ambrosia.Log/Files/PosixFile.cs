using System.Buffers;
using System.Globalization;
using System.Runtime.InteropServices;

namespace Ambrosia.Log.Files;

/// <summary>
/// An open file of the operating system. Reads and writes may come from several threads; whoever disposes of it knows that no call is under
/// way.
/// </summary>
internal sealed unsafe class PosixFile : IFile
{
    private const int PartsMax = 64;

    private readonly string _path;
    private readonly SystemCalls _calls;
    private readonly bool _mayWrite;
    private int _fd;
    private volatile bool _hasFailed; // a flush has: nothing that was written through this opening can be called durable any more

    /// <summary>Takes the descriptor over: disposal closes it.</summary>
    internal PosixFile(string path, int fd, SystemCalls calls, bool mayWrite = true)
    {
        _mayWrite = mayWrite;
        _path = path;
        _fd = fd;
        _calls = calls;
    }

    ~PosixFile() => Close();

    internal int Descriptor => _fd >= 0 ? _fd : throw new ObjectDisposedException(_path);

    public long Length
    {
        get
        {
            Libc.FileStatus status;
            if (Libc.StatX(Descriptor, "", Libc.EmptyPath, Libc.SizeMask, &status) < 0) throw PosixError.Of("stat", _path);
            return (long)status.Bytes;
        }
    }

    public long BytesTaken
    {
        get
        {
            Libc.FileStatus status;
            if (Libc.StatX(Descriptor, "", Libc.EmptyPath, Libc.BlocksMask, &status) < 0) throw PosixError.Of("stat", _path);
            return (long)status.Sectors * Libc.SectorBytes;
        }
    }

    /// <summary>Opens or makes a file, mode 0600.</summary>
    /// <exception cref="IOException">The message names operation, path and errno.</exception>
    public static PosixFile Open(string path, int flags, SystemCalls calls)
    {
        const uint ownerOnly = 0x180; // 0600
        while (true)
        {
            int fd = calls.Open(path, flags | Libc.CloseOnExec, ownerOnly);
            if (fd >= 0) return new PosixFile(path, fd, calls, mayWrite: (flags & Libc.ReadWrite) != 0);
            int errno = PosixError.Last;
            if (errno == Libc.Interrupted) continue;
            if (errno == Libc.Exists) throw new FileExistsException(path);
            throw PosixError.Of("open", path, errno);
        }
    }

    public int Read(Span<byte> buffer, long offset)
    {
        int done = 0;
        fixed (byte* start = buffer)
        {
            while (done < buffer.Length)
            {
                nint count = _calls.PRead(Descriptor, start + done, (nuint)(buffer.Length - done), offset + done);
                if (count == 0) break;
                if (count > 0) done += (int)count;
                else if (PosixError.Last != Libc.Interrupted)
                    throw PosixError.Of($"read of {buffer.Length - done} bytes at {offset + done} of", _path);
            }
        }
        return done;
    }

    public void Write(ReadOnlySpan<byte> bytes, long offset)
    {
        int done = 0;
        fixed (byte* start = bytes)
        {
            while (done < bytes.Length)
            {
                nint count = _calls.PWrite(Descriptor, start + done, (nuint)(bytes.Length - done), offset + done);
                if (count > 0) done += (int)count;
                else if (count == 0 || PosixError.Last != Libc.Interrupted)
                    throw PosixError.Of($"write of {bytes.Length - done} bytes at {offset + done} of", _path);
            }
        }
    }

    public void Write(ReadOnlySpan<ReadOnlyMemory<byte>> parts, long offset)
    {
        while (parts.Length > PartsMax)
        {
            WriteTogether(parts[..PartsMax], ref offset);
            parts = parts[PartsMax..];
        }
        if (parts.Length == 1) Write(parts[0].Span, offset);
        else if (parts.Length > 1) WriteTogether(parts, ref offset);
    }

    private void WriteTogether(ReadOnlySpan<ReadOnlyMemory<byte>> parts, ref long offset)
    {
        var pins = new MemoryHandle[parts.Length];
        Libc.IoVector* vectors = stackalloc Libc.IoVector[PartsMax];
        try
        {
            long left = 0;
            for (int i = 0; i < parts.Length; i++)
            {
                pins[i] = parts[i].Pin();
                vectors[i] = new Libc.IoVector { Start = (byte*)pins[i].Pointer, Length = (nuint)parts[i].Length };
                left += parts[i].Length;
            }
            for (int first = 0; left > 0;)
            {
                nint count = _calls.PWriteV(Descriptor, vectors + first, parts.Length - first, offset);
                if (count <= 0 && (count == 0 || PosixError.Last != Libc.Interrupted))
                    throw PosixError.Of($"write of {left} bytes at {offset} of", _path);
                if (count < 0) continue;
                left -= count;
                offset += count;
                first = Advance(vectors, first, count);
            }
        }
        finally
        {
            foreach (MemoryHandle pin in pins) pin.Dispose();
        }
    }

    /// <summary>Moves past what a short write has written, and returns the first vector with anything left.</summary>
    private static int Advance(Libc.IoVector* vectors, int first, nint written)
    {
        for (nuint done = (nuint)written; done > 0; first++)
        {
            nuint part = Math.Min(done, vectors[first].Length);
            vectors[first].Start += part;
            vectors[first].Length -= part;
            done -= part;
            if (vectors[first].Length > 0) break;
        }
        return first;
    }

    /// <summary>
    /// Sets space aside. On a file system without fallocate zeros are written instead, so that whoever relies on the space is as safe as
    /// elsewhere.
    /// </summary>
    public void Allocate(long from, long end)
    {
        while (_calls.FAllocate(Descriptor, Libc.KeepSize, from, end - from) < 0)
        {
            int errno = PosixError.Last;
            if (errno is Libc.NotSupported or Libc.NotImplemented)
            {
                WriteZeros(from, end);
                return;
            }
            if (errno != Libc.Interrupted) throw PosixError.Of($"allocation of {end - from} bytes at {from} of", _path, errno);
        }
    }

    private void WriteZeros(long from, long end)
    {
        for (long at = from; at < end;)
        {
            int step = (int)Math.Min(Preallocator.StepBytes, end - at);
            Write(Preallocator.ZeroBytes[..step], at);
            at += step;
        }
    }

    /// <summary>The descriptor's own position, which this moves, means nothing: each read and write names its place.</summary>
    public FileStretch NextData(long offset)
    {
        if (Seek(offset, Libc.SeekData) is not { } start) return new FileStretch(Length, Length); // only a hole follows, or nothing
        return new FileStretch(start, Seek(start, Libc.SeekHole) is { } end && end > start ? end : Length);
    }

    /// <summary>Null: there is nothing of the kind. A file system that does not know says that it is at the offset.</summary>
    private long? Seek(long offset, int what)
    {
        long found = Libc.LSeek(Descriptor, offset, what);
        if (found >= 0) return found;
        int errno = PosixError.Last;
        if (errno == Libc.NoSuchPlace) return null;
        return errno is Libc.Invalid or Libc.NotSupported ? offset : throw PosixError.Of($"search from {offset} on in", _path, errno);
    }

    public bool TryWriteDirect()
    {
        Libc.FileStatus status;
        if (Libc.StatX(Descriptor, "", Libc.EmptyPath, Libc.DirectAlignMask, &status) < 0) throw PosixError.Of("stat", _path);
        bool isStated = (status.Mask & Libc.DirectAlignMask) != 0; // kernels from 6.1 on state the alignment
        if (isStated
            && (AlignedBlock.Alignment % Math.Max(status.DirectMemoryAlign, 1) != 0
                || status.DirectOffsetAlign is 0 or > AlignedBlock.Alignment)) return false;
        int flags = Libc.FCntl(Descriptor, Libc.GetFlags, 0);
        if (flags < 0) throw PosixError.Of("flags of", _path);
        if (Libc.FCntl(Descriptor, Libc.SetFlags, flags | Libc.DirectFlag) == 0) return true;
        return PosixError.Last == Libc.Invalid ? false : throw PosixError.Of("direct writing of", _path);
    }

    public void SetLength(long length)
    {
        while (_calls.FTruncate(Descriptor, length) < 0)
            if (PosixError.Last != Libc.Interrupted) throw PosixError.Of($"truncation to {length} bytes of", _path);
    }

    public void Flush()
    {
        // An interrupted flush has reported nothing about the disk and is repeated. Any other failure is final: a second flush would
        // succeed and mean nothing, because the kernel has forgotten what the first one could not write.
        if (_hasFailed) throw new IOException($"flush of {_path}: a flush of it failed before");
        while (_calls.FDataSync(Descriptor) < 0)
        {
            int errno = PosixError.Last;
            if (errno == Libc.Interrupted) continue;
            _hasFailed = true;
            throw PosixError.Of("flush of", _path, errno);
        }
    }

    /// <summary>Brings the names in this directory to the device.</summary>
    internal void FlushNames()
    {
        while (_calls.FSync(Descriptor) < 0)
            if (PosixError.Last != Libc.Interrupted) throw PosixError.Of("flush of directory", _path);
    }

    public bool TryLock(FileLockKind kind)
    {
        if (kind == FileLockKind.Exclusive && !_mayWrite) // as NFS answers, so that no code rests on a kinder file system
            throw PosixError.Of("exclusive lock, through an opening that may not write, of", _path, Libc.BadDescriptor);
        int operation = (kind == FileLockKind.Shared ? Libc.LockShared : Libc.LockExclusive) | Libc.LockNoWait;
        while (_calls.FLock(Descriptor, operation) < 0)
        {
            int errno = PosixError.Last;
            if (errno == Libc.WouldBlock) return false;
            if (errno != Libc.Interrupted) throw PosixError.Of("lock of", _path, errno);
        }
        return true;
    }

    public void Unlock()
    {
        if (_calls.FLock(Descriptor, Libc.LockUnlock) < 0) throw PosixError.Of("unlock of", _path);
    }

    public void ExpectReads(long offset, long bytes) => _ = Libc.FAdvise(Descriptor, offset, bytes, Libc.WillNeed);

    internal void ReadNothingAhead() => _ = Libc.FAdvise(Descriptor, 0, 0, Libc.Random);

    public void DropCache() => _ = Libc.FAdvise(Descriptor, 0, 0, Libc.DontNeed);

    public void Dispose()
    {
        Close();
        GC.SuppressFinalize(this);
    }

    /// <summary>Returns device and inode: which file this is, whatever its name.</summary>
    internal (ulong Device, ulong Inode) Identity()
    {
        Libc.FileStatus status;
        if (Libc.StatX(Descriptor, "", Libc.EmptyPath, Libc.InodeMask, &status) < 0) throw PosixError.Of("stat", _path);
        return (((ulong)status.DeviceMajor << 32) | status.DeviceMinor, status.Inode);
    }

    private void Close()
    {
        int fd = Interlocked.Exchange(ref _fd, -1);
        if (fd >= 0) _ = _calls.Close(fd); // Linux has released the descriptor whatever it answers
    }
}

/// <summary>
/// Turns the last errno into the exception that the files seam promises. The message has operation, path and errno; the HResult is the
/// errno.
/// </summary>
internal static class PosixError
{
    public static int Last => Marshal.GetLastPInvokeError();

    public static IOException Of(string operation, string path) => Of(operation, path, Last);

    public static IOException Of(string operation, string path, int errno)
    {
        string message = string.Create(CultureInfo.InvariantCulture,
            $"{operation} {path}: {Marshal.GetPInvokeErrorMessage(errno)} (errno {errno})");
        return errno == Libc.NotThere ? new FileNotFoundException(message, path) : new IOException(message, errno);
    }
}
