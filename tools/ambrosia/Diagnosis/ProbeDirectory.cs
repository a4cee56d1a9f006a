using System.Globalization;
using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// A directory in which the probes write. It is on the file system in question and is removed at the end. It stands beside the log where
/// that is the same file system, so that the log's directory does not change, and else in it.
/// </summary>
internal sealed class ProbeDirectory : IDisposable
{
    private const string Check = "writing";

    private ProbeDirectory(string path) => Path = path;

    public string Path { get; }

    /// <summary>Makes the directory. Returns null and adds a finding where nothing can be made.</summary>
    /// <param name="existing">The log's directory, or the nearest one above the place where it is to be.</param>
    /// <param name="isThere">True if <paramref name="existing"/> is the log's directory.</param>
    public static ProbeDirectory? TryMake(string existing, bool isThere, List<Finding> findings)
    {
        Exception? refusal = null;
        foreach (string place in Places(existing, isThere))
        {
            string path = System.IO.Path.Combine(place,
                string.Create(CultureInfo.InvariantCulture, $".ambrosia-doctor.{Environment.ProcessId}"));
            try
            {
                Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
                findings.Add(Finding.Ok(Check, $"probes ran in {path}, which is removed"));
                return new ProbeDirectory(path);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                refusal = e;
            }
        }
        findings.Add(
            Finding.Fail(Check, refusal!.Message,
                "a coordinator run by this user could not write here, and locks and flushes could not be probed",
                "run the doctor as the coordinator's user, or let it write here"));
        return null;
    }

    public void Dispose() => Directory.Delete(Path, recursive: true);

    private static IEnumerable<string> Places(string existing, bool isThere)
    {
        if (!isThere) return [existing];
        string? parent = System.IO.Path.GetDirectoryName(existing);
        MountTable mounts = MountTable.Read();
        bool isSameMount = parent is not null && mounts.Find(RealPath.Of(parent))?.Path == mounts.Find(RealPath.Of(existing))?.Path;
        return isSameMount ? [parent!, existing] : [existing];
    }
}
