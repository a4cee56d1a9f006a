using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Images.Reading;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;

namespace Ambrosia.Inspection.Checkpoints;

/// <summary>
/// Reads the beginning of a checkpoint, without its image: the header, and the coordinator's part, which knows the peers' names.
/// </summary>
internal static class CheckpointSummary
{
    /// <summary>Reads the header alone.</summary>
    /// <exception cref="LogDamage">The first chunk is damaged, or is one of another checkpoint.</exception>
    public static CheckpointHeader ReadHeader(IFile file, string path, InstanceIdentity identity, CheckpointFileName name)
    {
        var cursor = new CheckpointCursor(file, path);
        cursor.Next(out _, out ReadOnlySpan<byte> content);
        return CheckpointReader.ReadHeader(cursor, content, identity, name);
    }

    /// <summary>Reads the header and the coordinator's part, and no further.</summary>
    /// <exception cref="LogDamage">One of these chunks is damaged.</exception>
    public static (CheckpointHeader Header, CoordinatorPart Part) Read(LogLocation log, CheckpointFileName name)
    {
        string path = log.PathOf(name.ToString());
        using IFile file = log.Files.Open(path, FileUse.Read);
        var cursor = new CheckpointCursor(file, path);
        cursor.Next(out _, out ReadOnlySpan<byte> content);
        CheckpointHeader header = CheckpointReader.ReadHeader(cursor, content, log.Identity, name);
        using var coordinator = new MemoryStream();
        while (cursor.Next(out CheckpointSection section, out content) && section == CheckpointSection.CoordinatorPart)
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

/// <summary>Says what a checkpoint is, for whoever begins with it.</summary>
/// <param name="Suspended">So many methods are suspended in its image; null: the image does not say it.</param>
internal sealed record CheckpointNotice(CheckpointHeader Header, long? Suspended)
{
    /// <summary>Reads the header and the front of the image; null: the checkpoint is gone or damaged.</summary>
    public static CheckpointNotice? TryRead(LogLocation log, CheckpointFileName name)
    {
        try
        {
            using CheckpointReader checkpoint = CheckpointReader.Open(log.Files, log.PathOf(name.ToString()), log.Identity);
            using var front = new MemoryStream();
            bool isEnough = false;
            long? suspended = null;
            while (!isEnough && checkpoint.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
            {
                if (section != CheckpointSection.Image) continue;
                front.Write(content);
                suspended = SuspendedCalls.CountIn(front.GetBuffer().AsSpan(0, (int)front.Length), out isEnough);
            }
            return new CheckpointNotice(checkpoint.Header, suspended);
        }
        catch (Exception e) when (e is IOException or LogDamage)
        {
            return null;
        }
    }
}

/// <summary>Finds the checkpoint that the user means.</summary>
internal static class CheckpointChoice
{
    /// <param name="names">The checkpoints of a log, the newest first; at least one.</param>
    /// <exception cref="MisuseException">There is no such one; the nearest is named.</exception>
    public static CheckpointFileName Find(CheckpointFileName[] names, string asked) => TryFind(names, asked)
        ?? throw new MisuseException(
            $"'{asked}' is no checkpoint of this log", "", $"the nearest is {Nearest(names, asked).First()}; 'ambrosia log' lists them");

    /// <summary>Finds a checkpoint by its name, by its Lsn, or by its number from the newest, which is 1; null: there is none.</summary>
    public static CheckpointFileName? TryFind(CheckpointFileName[] names, string asked)
    {
        foreach (CheckpointFileName name in names)
            if (name.ToString() == asked) return name;
        bool isNumber = ulong.TryParse(asked, NumberStyles.None, CultureInfo.InvariantCulture, out ulong number);
        foreach (CheckpointFileName name in names)
            if (isNumber && name.Lsn.Value == number) return name;
        return isNumber && number >= 1 && number <= (ulong)names.Length ? names[number - 1] : null;
    }

    /// <summary>Returns the checkpoints by how near their Lsns are to what was asked for, the nearest first.</summary>
    public static IEnumerable<CheckpointFileName> Nearest(CheckpointFileName[] names, string asked)
    {
        bool isNumber = ulong.TryParse(asked, NumberStyles.None, CultureInfo.InvariantCulture, out ulong number);
        ulong near = isNumber ? number : CheckpointFileName.Parse(asked)?.Lsn.Value ?? ulong.MaxValue;
        return names.OrderBy(name => Distance(name.Lsn.Value, near));
    }

    private static ulong Distance(ulong a, ulong b) => a > b ? a - b : b - a;
}
