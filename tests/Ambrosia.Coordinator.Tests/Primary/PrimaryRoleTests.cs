using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;
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

    /// <summary>
    /// A checkpoint lets a start pass over the pages before it. The first of these says which version the log is of; where it is damaged
    /// nothing is written that says another.
    /// </summary>
    [Fact]
    public void Start_FirstPageDamagedBelowACheckpoint_IsDamageAndWritesNothing()
    {
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        LogOptions options = OpenedLog.Small with { SegmentBytes = 16 << 20 };
        var node = new Node(disk, time, options);
        var app = new CountingApp(node, new SimulatedRandom(7), last: 200);
        bool hasAsked = false;
        for (int step = 0; app.Executed < 200 || !node.Lines.Exists(IsCheckpoint); step++)
        {
            Assert.True(step < 200_000, "a checkpoint is published");
            if (app.Executed > 20 && !hasAsked) app.Ask();
            hasAsked |= app.Executed > 20;
            app.Step();
            if (step % 5 == 0) node.Commit();
            node.Parts.Tick(isQuiet: true);
            time.Advance(TimeSpan.FromMilliseconds(10));
            node.Parts.CheckFence();
            node.Parts.Checkpoints.Step();
        }
        node.Kill();
        disk.FlipBit($"{Node.Directory}/log.1.1", LogSegment.HeaderBytes + 24, 0);
        Assert.Contains("states the app's first version",
            Assert.Throws<LogDamage>(() => new Node(disk, time, options)).Message, StringComparison.Ordinal);
        Assert.Equal(["log.1.1"], disk.List(Node.Directory).Where(static name => name.StartsWith("log.", StringComparison.Ordinal)));
    }

    private static bool IsCheckpoint(string line) => line.StartsWith("checkpoint ckpt", StringComparison.Ordinal);

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
