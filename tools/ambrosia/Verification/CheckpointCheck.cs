using System.Text.Json.Serialization;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Tools.Logs;

namespace Ambrosia.Tools.Verification;

/// <summary>Reads every checkpoint to its last byte, and checks CRCs, order, trailer and the coordinator's part.</summary>
internal sealed class CheckpointCheck(LogDirectory log)
{
    private readonly List<CheckpointVerdict> _verdicts = [];
    private readonly HashSet<CheckpointFileName> _read = [];

    /// <summary>The verdicts, oldest checkpoint first.</summary>
    public IReadOnlyList<CheckpointVerdict> Verdicts => _verdicts;

    public long BytesRead { get; private set; }

    /// <summary>Reads the checkpoints that it has not read yet.</summary>
    /// <param name="done">Gets the bytes read so far.</param>
    public void Run(Action<long> done)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(log.Files, log.Path).Reverse())
        {
            if (!_read.Add(name) || Read(name) is not { } verdict) continue;
            _verdicts.Add(verdict);
            done(BytesRead += verdict.FileBytes);
        }
    }

    private CheckpointVerdict? Read(CheckpointFileName name)
    {
        string path = log.PathOf(name.ToString());
        long bytes = 0;
        try
        {
            using (IFile file = log.Files.Open(path, FileUse.Read)) bytes = file.Length;
            using CheckpointReader reader = CheckpointReader.Open(log.Files, path, log.Identity);
            CoordinatorPart.Read(reader.CoordinatorBytes.Span);
            return new CheckpointVerdict(name.ToString(), name.Lsn.Value, bytes, null) { Header = reader.Header };
        }
        catch (FileNotFoundException) // a newer one has replaced it meanwhile
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
                new DamageReport.Details(path, null, null, "a checkpoint that can be read", e.Message));
        }
    }
}

/// <summary>The verdict says whether a checkpoint, which was read as a whole, can be recovered from.</summary>
/// <param name="Damage">What is damaged, or null where it is sound.</param>
internal sealed record CheckpointVerdict(string File, ulong Lsn, long FileBytes, DamageReport.Details? Damage)
{
    /// <summary>The header, or null where the checkpoint cannot be used.</summary>
    [JsonIgnore]
    public CheckpointHeader? Header { get; init; }
}
