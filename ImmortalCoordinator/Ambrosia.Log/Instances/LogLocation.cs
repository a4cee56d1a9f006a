using Ambrosia.Log.Files;

namespace Ambrosia.Log.Instances;

/// <summary>
/// Says where the log of one replica set is and by what its files are reached. Whatever this process does to these files passes through
/// <paramref name="Files"/>.
/// </summary>
/// <param name="Files">The files of the operating system, or those of a simulator.</param>
/// <param name="Directory">The absolute path of the replica set's directory (log-format L1.1).</param>
/// <param name="Identity">The instance whose log it is. Files of another instance are damage.</param>
public sealed record LogLocation(IFileSystem Files, string Directory, InstanceIdentity Identity)
{
    /// <summary>The places between file operations at which a test may end the process; without a test nothing happens there.</summary>
    public ICrashPoints Crash { get; init; } = ICrashPoints.None;

    internal string PathOf(string name) => Path.Combine(Directory, name);

    internal IReadOnlyList<string> List() => Files.List(Directory);

    /// <summary>Makes the names in the directory durable.</summary>
    internal void Flush() => Files.FlushDirectory(Directory);
}
