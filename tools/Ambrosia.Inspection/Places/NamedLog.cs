using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;

namespace Ambrosia.Inspection.Places;

/// <summary>Opens the log whose directory a person names, for reading alone.</summary>
internal static class NamedLog
{
    /// <exception cref="MisuseException">There is no log in the directory.</exception>
    public static LogLocation Open(string directory, IFileSystem files)
    {
        string path = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        InstanceIdentity identity = InstanceDirectory.TryRead(files, path) ?? throw new MisuseException(
            $"'{directory}' is no log", "it holds no file 'instance', which every log has from its creation on",
            "give the directory that the coordinator's --log names");
        return new LogLocation(new ReadOnlyFiles(files), path, identity);
    }
}
