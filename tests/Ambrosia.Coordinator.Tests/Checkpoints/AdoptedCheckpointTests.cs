using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What a primary does about a checkpoint that another replica has published and takes back.</summary>
public sealed class AdoptedCheckpointTests
{
    /// <summary>A secondary that finds that it differs removes its file, at any moment: that says nothing of the primary's disk.</summary>
    [Fact]
    public void Adopt_FileThatIsGoneAgain_IsPassedOver()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        new SpokenApp(node).BecomePrimary();
        var gone = new CheckpointFileName(new Lsn(64), new Epoch(1), "r1");
        node.Parts.Checkpoints.Pipeline.Adopt(gone);
        while (node.Parts.Checkpoints.Step()) { }
        Assert.Contains(node.Lines, line => line.Contains($"{gone}", StringComparison.Ordinal)
            && line.Contains("removed", StringComparison.Ordinal));
        Assert.Null(node.Parts.Checkpoints.Trigger.Status.Last);
    }
}
