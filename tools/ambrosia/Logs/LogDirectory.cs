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

    /// <summary>The same for the libraries that read logs.</summary>
    public LogLocation Location => new(Files, Path, Identity);

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
