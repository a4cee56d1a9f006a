using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Outputs through a checkpoint file and back: cut at exactly the trimmed and the emitted number.</summary>
public sealed class OutboxRunsTests
{
    [Fact]
    public void WriteAndRestore_AnyCuts_GiveTheSameOutboxBack() => Made.Seeds(100, random =>
    {
        using var log = new OpenedLog();
        Channel channel = Channel.Random(random, 40, argumentBytesMax: random.Chance(5) ? 60_000 : 40);
        int trimmed = random.Next(41), emitted = random.Next(trimmed, 41);
        using var bench = new OutboxBench(random.Pick<int>([-1, 1000]));
        bench.AppendAll(channel.RunsFrom(0, random));
        if (random.Chance(50)) bench.Outbox.Trim((ulong)random.Next(trimmed + 1));
        ChannelPosition from = channel.Positions[trimmed], to = channel.Positions[emitted];
        var output = new CheckpointOutput(OutboxBench.Peer, to.Number, to.Hash, to.LastKind, from.Number, from.Hash, from.LastKind);
        string path = Write(log, bench, output);

        using CheckpointReader reader = CheckpointReader.Open(log.Disk, path, log.Identity);
        using var restored = new OutboxBench(random.Pick<int>([-1, 2, 1000]));
        using var found = new RestoredCheckpoint(reader, CoordinatorPart.Read(reader.CoordinatorBytes.Span));
        CheckpointRecovery.RestoreOutboxes(found, restored.Set, restored.Pool);
        Assert.Equal((from, to, to), (restored.Outbox.Trimmed, restored.Outbox.Known, restored.Outbox.Emitted));
        var link = new SendCursor(restored.Outbox, 5, Ambrosia.Protocol.SizeLimits.MessageBytesMaxDefault);
        link.Resume(from.Number, 0);
        List<byte[]> runs = OutboxTests.Drain(link);
        Assert.Equal(channel.Messages.Skip(trimmed).Take(emitted - trimmed).Select(static m => m.Bytes),
            runs.SelectMany(static r => Made.MessagesOf(RunView.Read(r))));
        Assert.All(runs, run => Assert.Equal(channel.Positions[(int)RunView.Read(run).Header.Last].Hash, RunView.Read(run).Header.Hash));
        Assert.True(restored.Pool.Outstanding <= 4, "restored runs stand side by side in blocks");

        // The app goes on behind it, from anything it may be made to repeat.
        restored.Outbox.BeginSession(to);
        restored.AppendAll(channel.RunsFrom(to.Number, random));
        Assert.Equal(channel.Positions[^1], restored.Outbox.Known);
        link.End();
        restored.LeaveBlock();
        restored.Outbox.Trim(channel.Count);
        Assert.Equal((0, 0L), (restored.Pool.Outstanding, restored.Scratch.LiveBytes));
    });

    private static string Write(OpenedLog log, OutboxBench bench, CheckpointOutput output)
    {
        var header = new CheckpointHeader(0, log.Identity.Uuid, Lsn.Zero, Lsn.Zero, log.Epoch, 0, 0, 1, 0, "r0");
        using var writer = new CheckpointWriter(log.Disk, OpenedLog.Directory, log.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, new CoordinatorPart([], [], [output], Lsn.Zero, []).ToBytes());
        var entries = new List<OutboxEntry>();
        bench.Outbox.HoldCalls(output.TrimmedNumber, output.Number, entries);
        foreach (OutboxEntry entry in entries)
        {
            OutboxRuns.Write(writer, bench.Outbox, output, entry);
            bench.Outbox.Release(entry);
        }
        writer.Write(CheckpointSection.Image, [1, 2, 3]);
        writer.Finish();
        Assert.True(writer.Publish(Lsn.Zero));
        return $"{OpenedLog.Directory}/{header.FileName}";
    }
}
