using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Logs;

/// <summary>The directory of a log, which was found to be one. The tool only reads it.</summary>
/// <param name="Path">The absolute path.</param>
internal sealed record LogDirectory(IFileSystem Files, string Path, InstanceIdentity Identity)
{
    private const string Mend = "give the directory that the coordinator's --log names";

    /// <summary>Opens the directory that the user names.</summary>
    /// <exception cref="ToolMisuse">It is not there, or is no log.</exception>
    /// <exception cref="LogDamage">Its file 'instance' is damaged.</exception>
    public static LogDirectory Open(string directory)
    {
        string path = System.IO.Path.TrimEndingDirectorySeparator(System.IO.Path.GetFullPath(directory));
        var files = new ReadOnlyFiles();
        if (!Directory.Exists(path))
            throw new ToolMisuse($"'{directory}' is {(File.Exists(path) ? "a file" : "not there")}", "a log is a directory", Mend);
        return InstanceDirectory.TryRead(files, path) is { } identity
            ? new LogDirectory(files, path, identity)
            : throw new ToolMisuse($"'{directory}' is no log",
                "it holds no file 'instance', which every log has from its creation on", Suggest(path));
    }

    /// <summary>Returns the path of a file of the log.</summary>
    public string PathOf(string name) => System.IO.Path.Combine(Path, name);

    /// <summary>Says what to give instead. The directories of several instances often stand in one, so the logs in it are named.</summary>
    private static string Suggest(string path)
    {
        string[] below = [
            .. Directory.EnumerateDirectories(path).Where(static each => File.Exists(System.IO.Path.Combine(each, "instance")))
                .Order(StringComparer.Ordinal)];
        return below.Length == 0 ? Mend : $"there are logs in it; give one: {string.Join(", ", below)}";
    }
}

/// <summary>
/// The files of the operating system without any way to change one. So the tool cannot write into a log, whatever it does.
/// </summary>
/// <param name="files">The files that are read.</param>
/// <param name="hidden">The names that are not listed; null hides none.</param>
internal sealed class ReadOnlyFiles(IFileSystem files, IReadOnlySet<string>? hidden = null) : IFileSystem
{
    public ReadOnlyFiles() : this(new PosixFileSystem()) { }

    public IFile Open(string path, FileUse use) => use == FileUse.Read ? new ReadOnlyFile(files.Open(path, use)) : throw Refused();

    public bool Exists(string path) => files.Exists(path);

    public IReadOnlyList<string> List(string directory) =>
        hidden is null ? files.List(directory) : [.. files.List(directory).Where(name => !hidden.Contains(name))];

    public long FreeBytes(string directory) => files.FreeBytes(directory);

    public IFile Create(string path) => throw Refused();

    public void CreateDirectory(string path) => throw Refused();

    public void Rename(string from, string to) => throw Refused();

    public bool TryRenameNew(string from, string to) => throw Refused();

    public bool TryLink(string existing, string link) => throw Refused();

    public void Delete(string path) => throw Refused();

    public void FlushDirectory(string path) => throw Refused();

    public IFileLock? TryLock(string path) => throw Refused();

    public IFileLock? WaitForLock(string path, CancellationToken stop) => throw Refused();

    private static InvalidOperationException Refused() => new("the tool only reads");

    private sealed class ReadOnlyFile(IFile file) : IFile
    {
        public long Length => file.Length;

        public long BytesTaken => file.BytesTaken;

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public long NextData(long offset) => file.NextData(offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => throw Refused();

        public void Allocate(long from, long end) => throw Refused();

        public void SetLength(long length) => throw Refused();

        public void Flush() => throw Refused();

        public bool TryLock(FileLockKind kind) => kind == FileLockKind.Shared ? file.TryLock(kind) : throw Refused();

        public void Unlock() => file.Unlock();

        public void DropCache() => file.DropCache();

        public void Dispose() => file.Dispose();
    }
}
