using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>Reads every checkpoint to its last byte: CRCs, order, trailer, and the coordinator's part.</summary>
internal static class CheckpointCheck
{
    /// <param name="done">Gets the bytes read so far.</param>
    /// <returns>Oldest first.</returns>
    public static IReadOnlyList<CheckpointVerdict> Run(LogPlace place, Action<long> done, out long bytes)
    {
        var verdicts = new List<CheckpointVerdict>();
        bytes = 0;
        foreach (CheckpointFileName name in Checkpoints.List(place.Files, place.Directory).Reverse())
        {
            if (Read(place, name) is not { } verdict) continue;
            verdicts.Add(verdict);
            done(bytes += verdict.FileBytes);
        }
        return verdicts;
    }

    private static CheckpointVerdict? Read(LogPlace place, CheckpointFileName name)
    {
        string path = place.PathOf(name.ToString());
        long bytes = 0;
        try
        {
            using (IFile file = place.Files.Open(path, FileUse.Read)) bytes = file.Length;
            using CheckpointReader reader = CheckpointReader.Open(place.Files, path, place.Identity);
            CoordinatorPart.Read(reader.Coordinator.Span);
            return new CheckpointVerdict(name.ToString(), name.Lsn.Value, bytes, null) { Header = reader.Header };
        }
        catch (FileNotFoundException) // removed by a newer one meanwhile
        {
            return null;
        }
        catch (LogDamage damage)
        {
            return new CheckpointVerdict(name.ToString(), name.Lsn.Value, bytes, DamageReport.Of(damage).Damage);
        }
        catch (Exception e) when (e is ProtocolViolation or IOException)
        {
            return new CheckpointVerdict(name.ToString(), name.Lsn.Value, bytes, new DamageReport.Place(path, null, null, "a checkpoint that can be read", e.Message));
        }
    }
}
