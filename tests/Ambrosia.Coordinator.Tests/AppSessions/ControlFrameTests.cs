using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Frames stay whole: a record of several pages is one frame in pieces, and nothing may come between them.</summary>
public sealed class ControlFrameTests
{
    [Fact]
    public void Session_HeartbeatWhileALargeRecordIsDelivered_ComesBehindIt()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small with { PageBytes = 16384, SegmentBytes = 2 << 20 });
        var app = new CountingApp(node, new SimulatedRandom(4), 1);
        while (!app.IsQuiet)
        {
            app.Step();
            node.Commit();
        }
        byte[] run = Made.Run(MessageKind.Impulse, 1, 1, [Made.Message(MessageKind.Impulse, 1, 100_000)], peer: 0);
        var appender = new LogAppender(ReplicaLog.Of(node.Parts.Log), node.Parts.Log.ReserveBytesMax, static _ => { });
        Assert.True(
            appender.TryAppendRun(RecordKind.ImpulseRun, RunHeader.Read(run) with { Hash = node.Parts.Epoch.Value },
                run.AsSpan(RunHeader.Bytes), static _ => { }));
        node.Commit();

        var sent = new List<byte>();
        for (int pieces = 0; app.Session.TryTake(out ReadOnlyMemory<byte> bytes); pieces++)
        {
            sent.AddRange(bytes.Span);
            app.Session.Taken();
            if (pieces == 1) app.Session.SendHeartbeat();
        }
        Assert.Equal([FrameType.Deliver, FrameType.Heartbeat], Made.FramesOf(sent.ToArray(), 0, false).Select(static frame => frame.Type));
    }
}
