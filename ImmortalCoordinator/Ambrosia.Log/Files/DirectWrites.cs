namespace Ambrosia.Log;

/// <summary>Finds out, before anything is made, whether a directory's file system can be written past the page cache.</summary>
public static class DirectWrites
{
    /// <param name="dir">It, or the nearest directory above that is there, gets a file for a moment.</param>
    /// <exception cref="IOException">Nothing can be made there.</exception>
    public static bool ArePossible(IFileSystem fs, string dir)
    {
        string there = dir;
        while (!fs.Exists(there) && Path.GetDirectoryName(there) is { } above) there = above;
        string path = Path.Combine(there, $".direct-write-{Guid.NewGuid():N}");
        try
        {
            using IFile file = fs.Create(path);
            return file.TryWriteDirect();
        }
        finally
        {
            fs.Delete(path);
        }
    }
}
