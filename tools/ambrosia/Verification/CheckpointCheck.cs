using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>Reads every checkpoint to its last byte: CRCs, order, trailer, and the coordinator's part.</summary>
internal sealed class CheckpointCheck(LogPlace place)
{
    private readonly List<CheckpointVerdict> _verdicts = [];
    private readonly HashSet<CheckpointFileName> _read = [];

    /// <summary>Oldest first.</summary>
    public IReadOnlyList<CheckpointVerdict> Verdicts => _verdicts;

    public long BytesRead { get; private set; }

    /// <summary>Reads those that it has not read yet.</summary>
    /// <param name="done">Gets the bytes read so far.</param>
    public void Run(Action<long> done)
    {
        foreach (CheckpointFileName name in Checkpoints.List(place.Files, place.Directory).Reverse())
        {
            if (!_read.Add(name) || Read(name) is not { } verdict) continue;
            _verdicts.Add(verdict);
            done(BytesRead += verdict.FileBytes);
        }
    }

    private CheckpointVerdict? Read(CheckpointFileName name)
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
            return new CheckpointVerdict(name.ToString(), name.Lsn.Value, bytes,
                new DamageReport.Place(path, null, null, "a checkpoint that can be read", e.Message));
        }
    }
}
