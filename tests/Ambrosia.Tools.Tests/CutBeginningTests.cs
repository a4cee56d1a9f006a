using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;

namespace Ambrosia.Tools.Tests;

/// <summary>A cut begins with the newest checkpoint before its message from which every log that ends there can begin.</summary>
public sealed class CutBeginningTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly PlaceLog _log;

    public CutBeginningTests() => _log = new PlaceLog(_temporary.Of("counter"));

    [Fact]
    public void Choose_SeveralCheckpoints_TakesTheNewestBeforeTheMessage()
    {
        CheckpointFileName older = _log.Checkpoint();
        Lsn between = _log.Forks();
        _log.Commit();
        CheckpointFileName newer = _log.Checkpoint();
        Lsn behind = _log.Forks();
        _log.Commit();
        Assert.Equal(older, Choose(between));
        Assert.Equal(newer, Choose(behind));
        Assert.Equal(older, Choose(behind, "2"));
        Assert.Null(Choose(behind, CutBeginning.Start));
        Assert.Throws<MisuseException>(() => Choose(between, "1"));
    }

    /// <summary>A cut has no segment of that epoch, so that the checkpoint would tell of what is missing there.</summary>
    [Fact]
    public void Choose_ACheckpointOfALaterEpoch_IsPassedOver()
    {
        CheckpointFileName older = _log.Checkpoint();
        CheckpointFileName newer = _log.Checkpoint();
        Lsn behind = _log.Forks();
        _log.Commit();
        TakeInTheNextEpoch(newer);
        Assert.Equal(older, Choose(behind));
    }

    [Fact]
    public void Choose_NothingBefore_BeginsWithTheLog()
    {
        Lsn first = _log.Forks();
        _log.Commit();
        _log.Checkpoint();
        Assert.Null(Choose(first));
    }

    private void TakeInTheNextEpoch(CheckpointFileName name)
    {
        var files = new PosixFileSystem();
        string path = Path.Combine(_log.Directory, name.ToString());
        using (CheckpointReader reader = CheckpointReader.Open(files, path, _log.Maker.Identity))
        {
            CheckpointHeader header = reader.Header with { Epoch = name.Epoch.Next };
            using var writer = new CheckpointWriter(files, _log.Directory, _log.Maker.Identity, header, ICrashPoints.None);
            while (reader.Read(out CheckpointSection section, out ReadOnlySpan<byte> content)) writer.Write(section, content);
            writer.Finish();
            Assert.True(writer.Publish(_log.Maker.Writer.Stated));
        }
        File.Delete(path);
    }

    private CheckpointFileName? Choose(Lsn record, string? asked = null) =>
        CutBeginning.Choose(_log.Location, new MessagePlace(record, 0), asked).Name;

    public void Dispose()
    {
        _log.Dispose();
        _temporary.Dispose();
    }
}
