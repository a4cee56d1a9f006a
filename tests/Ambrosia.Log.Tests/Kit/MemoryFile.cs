using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>An open file of <see cref="MemoryFileSystem"/>.</summary>
internal sealed class MemoryFile(MemoryFile.Inode inode, Lock sync) : IFile
{
    public long Length => inode.Content.Length;

    public int Read(Span<byte> buffer, long offset)
    {
        lock (sync)
        {
            if (offset >= inode.Content.Length) return 0;
            int count = (int)Math.Min(buffer.Length, inode.Content.Length - offset);
            inode.Content.AsSpan((int)offset, count).CopyTo(buffer);
            return count;
        }
    }

    public void Write(ReadOnlySpan<byte> bytes, long offset)
    {
        lock (sync)
        {
            if (offset + bytes.Length > inode.Content.Length) Array.Resize(ref inode.Content, (int)offset + bytes.Length);
            bytes.CopyTo(inode.Content.AsSpan((int)offset));
            inode.WrittenTo = Math.Max(inode.WrittenTo, offset + bytes.Length);
        }
    }

    public void Allocate(long from, long end)
    {
        lock (sync) inode.Allocated = Math.Max(inode.Allocated, end);
    }

    public void SetLength(long length)
    {
        lock (sync)
        {
            Array.Resize(ref inode.Content, (int)length);
            inode.WrittenTo = Math.Min(inode.WrittenTo, length);
        }
    }

    public void Flush()
    {
    }

    public void DropCache()
    {
    }

    public bool TryLock(FileLockKind kind)
    {
        lock (sync)
        {
            if (inode.IsLocked
                || inode.Holders.Any(h => h.File != this && (kind == FileLockKind.Exclusive || h.Kind == FileLockKind.Exclusive)))
                return false;
            inode.Holders.RemoveAll(h => h.File == this);
            inode.Holders.Add((this, kind));
            return true;
        }
    }

    public void Unlock()
    {
        lock (sync) inode.Holders.RemoveAll(h => h.File == this);
    }

    public void Dispose() => Unlock();

    internal sealed class Inode
    {
        public byte[] Content = [];
        public long Allocated;
        public long WrittenTo;
        public bool IsLocked;
        public List<(MemoryFile File, FileLockKind Kind)> Holders = [];

        public Inode Copy() => new() { Content = [.. Content] };
    }
}
