using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Verifies that only one process can create a name, that only one can rename it, and that links work. The fence and the creation of
/// instances rest on that.
/// </summary>
internal static class NameCheck
{
    private const string Check = "names";

    public static IEnumerable<Finding> Run(string directory)
    {
        Finding[] bad = [.. Bad(directory)];
        return bad.Length > 0 ? bad : [Finding.Ok(Check, "exclusive creation, rename without replacing, links and directory flushes work")];
    }

    private static IEnumerable<Finding> Bad(string directory)
    {
        const string mend = "use another file system";
        var files = new PosixFileSystem();
        string a = Path.Combine(directory, "a"), b = Path.Combine(directory, "b"), c = Path.Combine(directory, "c"),
            d = Path.Combine(directory, "d");
        files.Create(a).Dispose();
        files.Create(b).Dispose();
        if (!Refuses<FileExistsException>(() => files.Create(a).Dispose()))
            yield return Finding.Fail(Check, "a file was created twice",
                "two processes could both believe that they made an instance", mend);
        if (Fails(() => files.TryRenameNew(a, b), out bool replaced) is { } noRename)
            yield return Finding.Fail(Check, noRename, "a segment cannot be given its name without the risk of replacing another", mend);
        else if (replaced)
            yield return Finding.Fail(Check, "a rename replaced a file that it must not",
                "a stopped primary could replace a segment of its successor", mend);
        files.Create(d).Dispose();
        if (Fails(() => ((IFileSystem)files).TryName(d, c), out bool named) is not null || !named)
            yield return Finding.Fail(Check, "a file can get no name without the risk of replacing another (neither link nor rename)",
                "two processes could both believe that they made an instance", mend);
        files.Rename(a, a + ".1");
        if (files.Exists(a) || !Refuses<FileNotFoundException>(() => files.Rename(a, a + ".2")))
            yield return Finding.Fail(Check, "a renamed file still has its old name", "two primaries could both claim an epoch", mend);
        if (Fails(() => { files.FlushDirectory(directory); return true; }, out _) is { } noFlush)
            yield return Finding.Fail(Check, noFlush, "a new segment's name could be lost in a power failure", mend);
    }

    private static bool Refuses<T>(Action action) where T : Exception
    {
        try
        {
            action();
            return false;
        }
        catch (T)
        {
            return true;
        }
    }

    /// <summary>Runs what may fail by an error of input or output, and says how it failed.</summary>
    /// <returns>What went wrong, or null.</returns>
    private static string? Fails(Func<bool> action, out bool answer)
    {
        try
        {
            answer = action();
            return null;
        }
        catch (IOException e)
        {
            answer = false;
            return e.Message;
        }
    }
}
