using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// The beginning of a checkpoint without its image: the header, and the coordinator's part, which knows the peers' names.
/// </summary>
internal static class CheckpointSummary
{
    /// <exception cref="LogDamage">The first chunk is damaged, or of another checkpoint.</exception>
    public static CheckpointHeader ReadHeader(IFile file, string path, InstanceIdentity identity, CheckpointFileName name)
    {
        var cursor = new CheckpointCursor(file, path);
        cursor.Next(out _, out ReadOnlySpan<byte> content);
        return CheckpointReader.ReadHeader(cursor, content, identity, name);
    }

    /// <summary>Header and coordinator's part; reads no further.</summary>
    /// <exception cref="LogDamage">One of these chunks is damaged.</exception>
    public static (CheckpointHeader Header, CoordinatorPart Part) Read(LogPlace place, CheckpointFileName name)
    {
        string path = place.PathOf(name.ToString());
        using IFile file = place.Files.Open(path, FileUse.Read);
        var cursor = new CheckpointCursor(file, path);
        cursor.Next(out _, out ReadOnlySpan<byte> content);
        CheckpointHeader header = CheckpointReader.ReadHeader(cursor, content, place.Identity, name);
        using var coordinator = new MemoryStream();
        while (cursor.Next(out CheckpointSection section, out content) && section == CheckpointSection.Coordinator)
            coordinator.Write(content);
        try
        {
            return (header, CoordinatorPart.Read(coordinator.ToArray()));
        }
        catch (ProtocolViolation violation)
        {
            throw cursor.Damage("a coordinator's part", violation.Message);
        }
    }
}
