namespace Ambrosia.Log;

/// <summary>Opens a segment of the chain for reading.</summary>
internal static class SegmentOpening
{
    /// <param name="isHeld">Locked shared until it is closed, so that it is neither removed nor recycled meanwhile.</param>
    /// <returns>Null: it was truncated, or is being truncated.</returns>
    public static IFile? TryOpen(IFileSystem fs, LogSegment segment, bool isHeld)
    {
        IFile file;
        try
        {
            file = fs.Open(segment.Path, FileUse.Read);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
        // recycled between opening and locking: gone as well
        if (!isHeld || (file.TryLock(FileLockKind.Shared) && segment.IsStillIn(file))) return file;
        file.Dispose();
        return null;
    }
}
