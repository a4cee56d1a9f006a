using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// An app that has few inputs and makes much of them is given checkpoints all the same, since a replay would make it all again.
/// </summary>
public sealed class CheckpointOfOutputsTests
{
    private const int CheckpointEvery = 1 << 20, CallBytes = 64_000, CallsMax = 200;

    [Fact]
    public void Tick_AppThatOnlyEmits_MarksWhenItsOutputsAreDue()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small, checkpointEvery: CheckpointEvery);
        var app = new SpokenApp(node);
        app.BecomePrimary();
        app.Send(new DestinationFrame(0, OutboxBench.Peer));
        int calls = 0;
        for (; !node.Parts.Checkpoints.IsDue && calls < CallsMax; calls++)
        {
            Assert.Equal(ReadAnswer.More, app.Send(Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 0, 0, [Call(calls)]))));
            node.Parts.Tick(isQuiet: false);
            node.Commit();
        }
        Assert.InRange(calls, (CheckpointTrigger.OutputShare - 1) * CheckpointEvery / CallBytes,
            CheckpointTrigger.OutputShare * CheckpointEvery / CallBytes);
    }

    private static byte[] Call(int number) => Made.Message(MessageKind.Fork, (ulong)number, CallBytes);
}
