using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;

namespace Ambrosia.Inspection.Places;

/// <summary>Opens the log whose directory a person names, for reading alone.</summary>
internal static class NamedLog
{
    /// <exception cref="MisuseException">There is no log in the directory, or this user may not read it.</exception>
    public static LogLocation Open(string directory, IFileSystem files)
    {
        string path = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        InstanceIdentity identity = Reading(directory, () => InstanceDirectory.TryRead(files, path)) ?? throw new MisuseException(
            $"'{directory}' is no log", "it holds no file 'instance', which every log has from its creation on",
            "give the directory that the coordinator's --log names");
        return new LogLocation(new ReadOnlyFiles(files), path, identity);
    }

    /// <summary>Reads of a log what this user may not be allowed to read, which the disk has no part in.</summary>
    /// <exception cref="MisuseException">It is not allowed.</exception>
    public static T Reading<T>(string directory, Func<T> read)
    {
        try
        {
            return read();
        }
        catch (IOException e) when (IFileSystem.IsForbidden(e))
        {
            throw new MisuseException(
                $"the log in '{directory}' cannot be read: {e.Message.TrimEnd('.')}",
                "a log is for the user of its coordinator, and with the coordinator's --log-group for that group",
                "run this as that user or in that group, or on a copy that you may read");
        }
    }
}
