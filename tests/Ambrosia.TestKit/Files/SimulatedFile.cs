using Ambrosia.Log.Files;

namespace Ambrosia.TestKit;

/// <summary>A process's handle on a file. It outlives the file's names, and dies with the process.</summary>
internal sealed class SimulatedFile(SimulatedFileSystem disk, SimulatedProcess process, Inode inode, string path, FileUse use) : IFile
{
    private bool _closed;

    /// <summary>The failed write-backs of the file that this opening has been told of, or that were told before it was opened.</summary>
    private int _toldErrors = inode.WriteBackErrorsTold;

    public Inode Inode => inode;

    public SimulatedProcess Process => process;

    public long Length { get { lock (disk.Gate) { CheckOpen(); return inode.Length; } } }

    public long BytesTaken { get { lock (disk.Gate) { CheckOpen(); return inode.BytesTaken; } } }

    public FileStretch NextData(long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        lock (disk.Gate)
        {
            Begin(FileOperationKind.Read, offset, 0);
            return inode.NextData(offset);
        }
    }

    public int Read(Span<byte> buffer, long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        lock (disk.Gate)
        {
            FileOperation operation = Begin(FileOperationKind.Read, offset, buffer.Length);
            if (inode.IsUnreadable(offset, buffer.Length)) throw new SimulatedIOException(FileFault.InputOutput, operation);
            return inode.Read(buffer, offset);
        }
    }

    public void Write(ReadOnlySpan<byte> bytes, long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        lock (disk.Gate)
        {
            CheckWritable();
            long powerLosses = disk.PowerLosses;
            FileOperation operation;
            try
            {
                operation = disk.Announce(process, FileOperationKind.Write, path, offset, bytes.Length);
            }
            catch (SimulatedCrash crash) when (crash.BytesWritten > 0 && disk.PowerLosses == powerLosses)
            {
                inode.Write(bytes[..Math.Min(crash.BytesWritten, bytes.Length)], offset);
                throw;
            }

            if (disk.FaultOf(operation, inode.BytesMissing(offset, bytes.Length)) is not { } fault)
            {
                inode.Write(bytes, offset);
                return;
            }

            inode.Write(bytes[..disk.Random.Next(bytes.Length + 1)], offset);
            throw new SimulatedIOException(fault, operation);
        }
    }

    public void Allocate(long from, long end)
    {
        lock (disk.Gate)
        {
            CheckWritable();
            FileOperation operation = disk.Announce(process, FileOperationKind.Allocate, path, from, end - from);
            if (disk.FaultOf(operation, inode.BytesMissing(from, end - from)) is { } fault)
                throw new SimulatedIOException(fault, operation);
            inode.Allocate(end);
        }
    }

    public void SetLength(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        lock (disk.Gate)
        {
            CheckWritable();
            Begin(FileOperationKind.SetLength, 0, length);
            inode.SetLength(length);
        }
    }

    public void Flush()
    {
        lock (disk.Gate)
        {
            CheckOpen();
            FileOperation operation = disk.Announce(process, FileOperationKind.Flush, path, 0, 0);
            if (disk.Faults.Of(operation) is { } fault)
            {
                inode.FailFlush(disk.Random);
                throw new SimulatedIOException(fault, operation);
            }

            inode.Flush();
            if (inode.TryTellWriteBackError(ref _toldErrors)) throw new SimulatedIOException(FileFault.InputOutput, operation);
        }
    }

    public bool TryLock(FileLockKind kind)
    {
        lock (disk.Gate)
        {
            FileOperation operation = Begin(FileOperationKind.Lock, 0, 0);
            if (kind == FileLockKind.Exclusive && use != FileUse.ReadWrite)
                throw new SimulatedIOException(FileFault.BadDescriptor, operation);
            return inode.TryLock(this, kind);
        }
    }

    public void Unlock()
    {
        lock (disk.Gate)
        {
            CheckOpen();
            inode.Unlock(this);
        }
    }

    public void DropCache()
    {
        lock (disk.Gate)
        {
            Begin(FileOperationKind.DropCache, 0, 0);
            inode.DropCache();
        }
    }

    /// <summary>Never throws: it also runs in the <c>finally</c> blocks of a process that is dead.</summary>
    public void Dispose()
    {
        lock (disk.Gate)
        {
            if (_closed) return;
            _closed = true;
            process.Forget(this);
            inode.Handles--;
            inode.Unlock(this);
        }
    }

    /// <summary>Announces an operation that takes effect wholly or, failing, not at all.</summary>
    private FileOperation Begin(FileOperationKind kind, long offset, long bytes)
    {
        CheckOpen();
        FileOperation operation = disk.Announce(process, kind, path, offset, bytes);
        return disk.Faults.Of(operation) is { } fault ? throw new SimulatedIOException(fault, operation) : operation;
    }

    private void CheckWritable()
    {
        CheckOpen();
        if (use != FileUse.ReadWrite) throw new IOException($"{path} is open for reading");
    }

    private void CheckOpen()
    {
        if (!process.IsAlive) throw new SimulatedCrash($"{process.Id} is dead");
        ObjectDisposedException.ThrowIf(_closed, this);
    }
}
