using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>The directory of one replica set, found to be one.</summary>
/// <param name="Directory">Absolute path.</param>
internal sealed record LogPlace(IFileSystem Files, string Directory, InstanceIdentity Identity)
{
    private const string Mend = "give the directory that the coordinator's --log names";

    /// <exception cref="ToolMisuse">It is not there, or is no log.</exception>
    /// <exception cref="LogDamage">Its file 'instance' is damaged.</exception>
    public static LogPlace Open(string directory)
    {
        string path = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        var files = new ReadOnlyFiles();
        if (!System.IO.Directory.Exists(path))
            throw new ToolMisuse($"'{directory}' is {(File.Exists(path) ? "a file" : "not there")}", "a log is a directory", Mend);
        return InstanceDirectory.TryRead(files, path) is { } identity
            ? new LogPlace(files, path, identity)
            : throw new ToolMisuse($"'{directory}' is no log",
                "it holds no file 'instance', which every log has from its creation on", Suggest(path));
    }

    public string PathOf(string name) => Path.Combine(Directory, name);

    /// <summary>The directories of several instances often stand in one.</summary>
    private static string Suggest(string path)
    {
        string[] below = [
            .. System.IO.Directory.EnumerateDirectories(path).Where(static each => File.Exists(Path.Combine(each, "instance")))
                .Order(StringComparer.Ordinal)];
        return below.Length == 0 ? Mend : $"there are logs in it; give one: {string.Join(", ", below)}";
    }
}
