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
        }
    }

    public void Allocate(long length)
    {
        lock (sync) inode.Allocated = Math.Max(inode.Allocated, length);
    }

    public void SetLength(long length)
    {
        lock (sync) Array.Resize(ref inode.Content, (int)length);
    }

    public void Flush()
    {
    }

    public void DropCache()
    {
    }

    public void Dispose()
    {
    }

    internal sealed class Inode
    {
        public byte[] Content = [];
        public long Allocated;
        public bool IsLocked;

        public Inode Copy() => new() { Content = [.. Content] };
    }
}
