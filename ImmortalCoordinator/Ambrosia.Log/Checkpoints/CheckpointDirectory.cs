using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;

namespace Ambrosia.Log.Checkpoints;

/// <summary>Lists and verifies the checkpoints of a directory. Any thread.</summary>
public static class CheckpointDirectory
{
    /// <summary>Lists the names of the checkpoints, newest first; nothing is verified.</summary>
    public static IReadOnlyList<CheckpointFileName> List(IFileSystem fs, string dir)
    {
        var names = new List<CheckpointFileName>();
        foreach (string name in fs.List(dir))
            if (CheckpointFileName.Parse(name) is { } checkpoint) names.Add(checkpoint);
        names.Sort((a, b) => b.CompareTo(a));
        return names;
    }

    /// <summary>Verifies a whole checkpoint. Returns false when it is damaged or not there.</summary>
    public static bool IsValid(IFileSystem fs, string dir, CheckpointFileName name, InstanceIdentity identity) =>
        TryReadHeader(new LogLocation(fs, dir, identity), name) is not null;

    /// <summary>Verifies a whole checkpoint on the device and returns its header; null when it is damaged or not there.</summary>
    internal static CheckpointHeader? TryReadHeader(LogLocation location, CheckpointFileName name)
    {
        try
        {
            using CheckpointReader reader =
                CheckpointReader.Open(location.Files, location.PathOf(name.ToString()), location.Identity, pastCache: true);
            return reader.Header;
        }
        catch (LogDamage)
        {
            return null;
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }
}
