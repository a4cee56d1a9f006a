namespace Ambrosia.TestKit;

/// <summary>
/// What tests do behind the programs' backs: damage, and a look at or a change of content that is neither announced nor able to fail.
/// Damage strikes what the device holds; unless <c>deviceOnly</c>, also what the page cache holds.
/// </summary>
public sealed partial class SimulatedFileSystem
{
    /// <summary>Flips one bit (0–7) of one byte.</summary>
    public void FlipBit(string path, long offset, int bit, bool deviceOnly = false)
    {
        int at = (int)(offset % Block.Bytes);
        lock (Gate) InodeAt(path, offset, 1).Damage(offset / Block.Bytes, content => content[at] ^= (byte)(1 << bit), !deviceOnly);
    }

    /// <summary>Replaces bytes inside the file, as a misdirected or stale write would.</summary>
    public void Overwrite(string path, long offset, ReadOnlySpan<byte> bytes, bool deviceOnly = false)
    {
        lock (Gate)
        {
            Inode inode = InodeAt(path, offset, bytes.Length);
            for (int done = 0; done < bytes.Length;)
            {
                int at = (int)((offset + done) % Block.Bytes);
                byte[] part = bytes.Slice(done, Math.Min(bytes.Length - done, Block.Bytes - at)).ToArray();
                inode.Damage((offset + done) / Block.Bytes, content => part.CopyTo(content, at), !deviceOnly);
                done += part.Length;
            }
        }
    }

    /// <summary>Exchanges two 4 KiB blocks, of one file or of two. Both end before the files do.</summary>
    public void SwapBlocks(string path, long block, string otherPath, long otherBlock, bool deviceOnly = false)
    {
        lock (Gate)
        {
            Inode first = InodeAt(path, block * Block.Bytes, Block.Bytes);
            Inode second = InodeAt(otherPath, otherBlock * Block.Bytes, Block.Bytes);
            byte[] firstContent = first.BlockContent(block);
            byte[] secondContent = second.BlockContent(otherBlock);
            first.Damage(block, content => secondContent.CopyTo(content, 0), !deviceOnly);
            second.Damage(otherBlock, content => firstContent.CopyTo(content, 0), !deviceOnly);
        }
    }

    /// <summary>The file as programs see it.</summary>
    /// <exception cref="FileNotFoundException">It is not there.</exception>
    public byte[] ReadAll(string path)
    {
        lock (Gate)
        {
            Inode inode = InodeAt(path, 0, 0);
            byte[] content = new byte[inode.Length];
            inode.Read(content, 0);
            return content;
        }
    }

    /// <summary>
    /// Puts a file there, replacing what it held, with directories, all of it durable: the state that a test starts from.
    /// </summary>
    public void WriteAll(string path, ReadOnlySpan<byte> content)
    {
        lock (Gate)
        {
            path = Normal(path);
            MakeDirectory(NameImage.ParentOf(path));
            Inode inode = _names.Visible.Find(path) ?? NewFile(path);
            _names.Flush(NameImage.ParentOf(path));
            inode.SetLength(0);
            inode.Write(content, 0);
            inode.Flush();
        }
    }

    /// <summary>Makes a directory and those above it, durable: what an operator prepares before a first start.</summary>
    public void MakeDirectory(string path)
    {
        lock (Gate)
        {
            path = Normal(path);
            AddDirectories(path);
            for (string at = path; at != NameImage.Root; at = NameImage.ParentOf(at)) _names.Flush(NameImage.ParentOf(at));
        }
    }

    /// <summary>Every file's path, in ordinal order.</summary>
    public IReadOnlyList<string> Files()
    {
        lock (Gate) return [.. _names.Visible.Files().Select(static file => file.Path)];
    }

    private Inode InodeAt(string path, long offset, long bytes)
    {
        path = Normal(path);
        Inode inode = _names.Visible.Find(path) ?? throw new FileNotFoundException($"{path} is not there", path);
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(offset + bytes, inode.Length);
        return inode;
    }
}
