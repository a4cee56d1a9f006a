using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Verifies the locks by which readers keep a segment: shared ones through openings that only read, several at once, against an exclusive
/// one through an opening that may write.
/// </summary>
internal static class OpeningCheck
{
    private const string Check = "shared locks";
    private const string Mend = "use a file system whose locks hold between openings of a file";

    public static Finding Run(IFileSystem files, string directory)
    {
        string path = Path.Combine(directory, "shared");
        files.Create(path).Dispose();
        using IFile writer = files.Open(path, FileUse.ReadWrite);
        using (IFile first = files.Open(path, FileUse.Read), second = files.Open(path, FileUse.Read))
        {
            if (!first.TryLock(FileLockKind.Shared) || !second.TryLock(FileLockKind.Shared))
                return Finding.Fail(Check, "two readers did not both get a shared lock",
                    "one replica that reads a segment would keep all others out", Mend);
            if (writer.TryLock(FileLockKind.Exclusive))
                return Finding.Fail(Check, "an exclusive lock was had beside shared ones",
                    "a segment could be recycled under its reader", Mend);
        }
        return writer.TryLock(FileLockKind.Exclusive) ? Finding.Ok(Check, "readers share a lock, which excludes whoever would change the file")
            : Finding.Fail(Check, "no exclusive lock was had when all readers had closed the file", "no history could be removed", Mend);
    }
}
