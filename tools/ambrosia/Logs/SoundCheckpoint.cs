using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;

namespace Ambrosia.Tools.Logs;

/// <summary>Opens the first checkpoint of several that can be read to its last byte.</summary>
internal static class SoundCheckpoint
{
    /// <summary>Opens the newest sound checkpoint of a log; null: it has none.</summary>
    /// <exception cref="LogDamage">None of them is sound.</exception>
    public static CheckpointReader? TryOpenNewest(LogDirectory log) => TryOpenFirst(log, CheckpointDirectory.List(log.Files, log.Path));

    /// <summary>Opens the first of these that is sound; null: none is there any more.</summary>
    /// <exception cref="LogDamage">Those that are there are damaged; it is that of the first.</exception>
    public static CheckpointReader? TryOpenFirst(LogDirectory log, IEnumerable<CheckpointFileName> names)
    {
        LogDamage? damage = null;
        foreach (CheckpointFileName name in names)
        {
            try
            {
                return CheckpointReader.Open(log.Files, log.PathOf(name.ToString()), log.Identity);
            }
            catch (FileNotFoundException)
            {
                // a newer one has replaced it meanwhile
            }
            catch (LogDamage found)
            {
                damage ??= found; // an older checkpoint may be sound, and then it counts
            }
        }
        return damage is null ? null : throw damage;
    }
}
