using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What is durable before an app is told anything.</summary>
public sealed class PrimaryDutiesTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(4096)]
    public void Primary_HardlyAnyZerosAhead_HasItsFirstRecordsDurable(long window)
    {
        var disk = new SimulatedFileSystem();
        var first = new Node(disk, new FakeTime(), OpenedLog.Small);
        Assert.Equal(Lsn.Zero, first.Parts.Log.Tail); // an app says with which version the log begins
        _ = new SpokenApp(first);
        first.Kill();
        var node = new Node(disk, new FakeTime(), OpenedLog.Small with { ZeroWindowBytes = window });
        Assert.NotEqual(Lsn.Zero, node.Parts.Log.Durable);
        Assert.Equal(node.Parts.Log.Tail, node.Parts.Log.Durable);
    }

    /// <summary>There is nothing to give to the app yet, and it is primary of nothing all the same.</summary>
    [Fact]
    public void App_DiskFullAtTheVeryFirstStart_IsToldBehindTheFirstRecord()
    {
        Node node = MakeWithoutRoom(out SimulatedFileSystem disk);
        var app = new SpokenApp(node);
        Assert.Null(app.Asked);
        disk.Faults.Clear();
        node.Parts.Log.PrepareSpace();
        node.Commit();
        app.Listen();
        Assert.Equal(RecordKind.FirstStart, app.Records[0].Kind);
        Assert.NotNull(app.Asked);
    }

    /// <summary>Its disk holds what a take-over makes, and no page behind it.</summary>
    private static Node MakeWithoutRoom(out SimulatedFileSystem disk)
    {
        for (int nth = 1; ; nth++)
        {
            disk = new SimulatedFileSystem();
            disk.Faults.FailNth(nth, FileFault.NoSpace, forGood: true, static operation => operation.Kind == FileOperationKind.Write);
            try
            {
                var node = new Node(disk, new FakeTime(), OpenedLog.Small);
                Assert.Equal(Lsn.Zero, node.Parts.Log.Durable);
                return node;
            }
            catch (IOException e) when (IFileSystem.IsDiskFull(e))
            {
            }
        }
    }
}
