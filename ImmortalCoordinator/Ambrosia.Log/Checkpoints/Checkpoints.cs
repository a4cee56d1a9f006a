using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>The checkpoints of a directory, by their names and as a whole.</summary>
public static class Checkpoints
{
    /// <summary>Names, newest first; nothing is verified.</summary>
    public static IReadOnlyList<CheckpointFileName> List(IFileSystem fs, string dir)
    {
        var names = new List<CheckpointFileName>();
        foreach (string name in fs.List(dir))
            if (CheckpointFileName.Parse(name) is { } checkpoint) names.Add(checkpoint);
        names.Sort((a, b) => b.CompareTo(a));
        return names;
    }

    /// <summary>Verifies a whole checkpoint. False: damaged, or not there.</summary>
    public static bool IsValid(IFileSystem fs, string dir, CheckpointFileName name, InstanceIdentity identity) =>
        TryReadHeader(fs, dir, name, identity) is not null;

    /// <summary>Verifies a whole checkpoint, on the device; null: damaged, or not there.</summary>
    internal static CheckpointHeader? TryReadHeader(IFileSystem fs, string dir, CheckpointFileName name, InstanceIdentity identity)
    {
        try
        {
            using CheckpointReader reader = CheckpointReader.Open(fs, Path.Combine(dir, name.ToString()), identity, pastCache: true);
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
