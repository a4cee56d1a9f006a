namespace Ambrosia.TestKit;

/// <summary>
/// Faults that belong to a file, to an opening or to a directory, and last: what a test, or a simulated world, lets the disk do from now
/// on. <see cref="FaultPlan"/> has those of one operation.
/// </summary>
public sealed partial class SimulatedFileSystem
{
    /// <summary>Paths that are listed and lead nowhere, with the listings for which they still are.</summary>
    private readonly Dictionary<string, int> _ghosts = new(StringComparer.Ordinal);

    /// <summary>Each read of a block in which these bytes stand fails with EIO, whoever reads, until the block is written anew.</summary>
    public void MakeUnreadable(string path, long offset, long bytes)
    {
        lock (Gate) InodeAt(path, offset, bytes).MakeUnreadable(offset, bytes);
    }

    /// <summary>
    /// What is not flushed of a file cannot be written back: the cache forgets that some of it was changed, and each opening of the file is
    /// told once, by its next flush.
    /// </summary>
    public void FailWriteBack(string path)
    {
        lock (Gate) InodeAt(path, 0, 0).FailWriteBack(Random);
    }

    /// <summary>The file system takes the blocks in which these bytes stand for holes, although they can be read.</summary>
    public void TakeForHole(string path, long offset, long bytes)
    {
        lock (Gate) InodeAt(path, offset, bytes).TakeForHole(offset, bytes);
    }

    /// <summary>
    /// A name is listed, and nothing can be opened by it: a link that leads nowhere, or what a server's cache still lists.
    /// </summary>
    /// <param name="listings">It is gone from the listings after so many.</param>
    public void AddGhost(string path, int listings = int.MaxValue)
    {
        lock (Gate) _ghosts[Normal(path)] = listings;
    }

    private IReadOnlyList<string> WithGhosts(string directory, IReadOnlyList<string> names)
    {
        if (_ghosts.Count == 0) return names;
        var all = new SortedSet<string>(names, StringComparer.Ordinal);
        foreach ((string path, int left) in _ghosts.ToList())
        {
            if (NameImage.ParentOf(path) != directory) continue;
            all.Add(Path.GetFileName(path));
            if (left == 1) _ghosts.Remove(path);
            else if (left < int.MaxValue) _ghosts[path] = left - 1;
        }
        return [.. all];
    }

    private static void CheckDescriptors(SimulatedProcess process, FileOperationKind kind, string path)
    {
        if (process.OpenFiles >= process.OpenFilesMax)
            throw new SimulatedIOException(FileFault.TooManyFiles, new FileOperation(0, process.Id, kind, path, 0, 0));
    }
}
