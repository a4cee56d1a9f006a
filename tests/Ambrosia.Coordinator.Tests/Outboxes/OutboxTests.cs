using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

public sealed class OutboxTests
{
    private static readonly Epoch s_epoch = new(9);

    [Fact]
    public void Append_RunsCutAnyhow_HaveTheChannelsNumbersAndHashes() => Made.Seeds(200, random =>
    {
        Channel channel = Channel.Random(random, 60);
        using var bench = new OutboxBench(random.Chance(30) ? -1 : 1000);
        bench.AppendAll(channel.RunsFrom(0, random));
        Assert.Equal(channel.Positions[^1], bench.Outbox.Known);
        Assert.Equal(bench.Outbox.Known, bench.Outbox.Emitted);

        ulong next = 1;
        while (bench.Outbox.TryNext(out OutboxEntry entry))
        {
            byte[] frame = new byte[entry.FrameBytes];
            bench.Outbox.CopyFrame(entry, frame);
            RunView run = RunView.Read(frame.AsSpan(FrameHeader.Bytes));
            Assert.Equal((0u, (ushort)0, next), (run.Header.Peer, run.Header.Shard, run.Header.First));
            Assert.Equal(channel.Positions[(int)run.Header.Last].Hash, run.Header.Hash);
            Assert.Equal(channel.Messages.Skip((int)next - 1).Take((int)run.Header.Count).Select(static m => m.Bytes),
                Made.MessagesOf(run));
            next = run.Header.Last + 1;
            bench.Outbox.Release(entry);
        }
        Assert.Equal(channel.Count + 1, next);
    });

    [Theory]
    [InlineData(1000)]
    [InlineData(-1)]
    public void Trim_EveryNumber_KeepsPositionsAndGivesBlocksBack(int blocksMax)
    {
        var random = new SimulatedRandom(7);
        Channel channel = Channel.Random(random, 40);
        for (ulong number = 0; number <= channel.Count; number++)
        {
            using var bench = new OutboxBench(blocksMax);
            bench.AppendAll(channel.RunsFrom(0, random));
            bench.LeaveBlock();
            bench.Outbox.Trim(number / 2);
            bench.Outbox.Trim(number);
            bench.Outbox.Trim(number / 3); // a lower one has no effect
            Assert.Equal(channel.Positions[(int)number], bench.Outbox.Trimmed);
            for (ulong at = 0; at <= channel.Count + 1; at++)
            {
                bool there = bench.Outbox.TryPositionAt(at, out ChannelPosition position);
                Assert.Equal(at >= number && at <= channel.Count, there);
                if (there) Assert.Equal(channel.Positions[(int)at], position);
            }
            bench.Outbox.Trim(channel.Count);
            bench.AssertNothingKept();
        }
    }

    /// <summary>
    /// What is acknowledged goes at once when room is short; what the log has stated is known beside it, so that no
    /// checkpoint says otherwise.
    /// </summary>
    [Theory]
    [InlineData(1000)]
    [InlineData(-1)]
    public void TrimEarly_EveryNumber_DropsWhatIsAcknowledgedAndKnowsWhatTheLogHasStated(int blocksMax)
    {
        var random = new SimulatedRandom(8);
        Channel channel = Channel.Random(random, 40);
        for (ulong number = 1; number <= channel.Count; number++)
        {
            using var bench = new OutboxBench(blocksMax);
            bench.AppendAll(channel.RunsFrom(0, random));
            bench.LeaveBlock();
            bench.Outbox.Trim(number / 3);
            bench.Outbox.Acknowledge(number);
            Assert.Equal(channel.Positions[(int)number / 3], bench.Outbox.Trimmed);
            bench.Set.MakeRoom(static _ => false);
            Assert.Equal((channel.Positions[(int)number], number / 3), (bench.Outbox.Trimmed, bench.Outbox.Stated));
            Assert.False(bench.Outbox.TryPositionAt(number / 3, out _));
            bench.Outbox.Trim(number / 2);
            Assert.Equal((channel.Positions[(int)number], number / 2), (bench.Outbox.Trimmed, bench.Outbox.Stated));
            bench.Outbox.Trim(channel.Count);
            Assert.Equal((channel.Positions[^1], channel.Count), (bench.Outbox.Trimmed, bench.Outbox.Stated));
            bench.AssertNothingKept();
        }
    }

    [Fact]
    public void Resume_EveryNumber_SendsExactlyTheRest()
    {
        var random = new SimulatedRandom(3);
        Channel channel = Channel.Random(random, 40);
        using var bench = new OutboxBench();
        bench.AppendAll(channel.RunsFrom(0, random));
        for (ulong number = 0; number <= channel.Count; number++)
        {
            var link = new SendCursor(bench.Outbox, 5, Ambrosia.Protocol.SizeLimits.MessageBytesMaxDefault);
            link.Resume(number, 0);
            Assert.Equal(channel.Messages.Skip((int)number).Select(static m => m.Bytes),
                Drain(link).SelectMany(static run => Made.MessagesOf(RunView.Read(run))));
            link.End();
        }
    }

    internal static List<byte[]> Drain(SendCursor link, uint seed = 5)
    {
        var runs = new List<byte[]>();
        while (link.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            runs.AddRange(Made.FramesOf(bytes.Span, seed, checkPayload: true).Select(static f => f.Payload));
            link.Taken();
        }
        return runs;
    }

    [Fact]
    public void Append_EmittedAgain_IsComparedAndDroppedAndTheRestKept() => Made.Seeds(200, random =>
    {
        Channel channel = Channel.Random(random, 50);
        ulong known = (ulong)random.Next(1, 50), from = (ulong)random.Next((int)known + 1), trimmed = (ulong)random.Next((int)known + 1);
        using var bench = new OutboxBench(random.Chance(30) ? -1 : 1000);
        var before = new Channel();
        foreach ((MessageKind kind, byte[] bytes) in channel.Messages.Take((int)known)) before.Add(kind, bytes);
        bench.AppendAll(before.RunsFrom(0, random));
        bench.Outbox.Trim(trimmed);

        bench.Outbox.BeginSession(channel.Positions[(int)from]);
        Assert.Equal(channel.Positions[(int)from], bench.Outbox.Emitted);
        bench.AppendAll(channel.RunsFrom(from, random)); // cut otherwise: some run straddles the known end
        Assert.Equal(channel.Positions[^1], bench.Outbox.Known);
        Assert.Equal(channel.Positions[^1], bench.Outbox.Emitted);

        var link = new SendCursor(bench.Outbox, 5, Ambrosia.Protocol.SizeLimits.MessageBytesMaxDefault);
        link.Resume(trimmed, 0);
        List<byte[]> runs = Drain(link);
        Assert.Equal(channel.Messages.Skip((int)trimmed).Select(static m => m.Bytes),
            runs.SelectMany(static run => Made.MessagesOf(RunView.Read(run))));
        Assert.All(runs, run => Assert.Equal(channel.Positions[(int)RunView.Read(run).Header.Last].Hash, RunView.Read(run).Header.Hash));
        link.End();
        bench.LeaveBlock();
        bench.Outbox.Trim(channel.Count);
        bench.AssertNothingKept();
    });

    [Fact]
    public void Append_EmittedAgainWithOneDifference_Diverges()
    {
        var random = new SimulatedRandom(11);
        Channel channel = Channel.Random(random, 30);
        for (int wrong = 0; wrong < 30; wrong++)
        {
            using var bench = new OutboxBench();
            bench.AppendAll(channel.RunsFrom(0, random));
            var other = new Channel();
            for (int i = 0; i < 30; i++)
                other.Add(channel.Messages[i].Kind,
                    i == wrong ? Made.Message(channel.Messages[i].Kind, 1000, 9) : channel.Messages[i].Bytes);
            other.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, 31, 3));
            bench.Outbox.BeginSession(default);
            var diverged = Assert.Throws<DivergenceException>(() => bench.AppendAll(other.RunsFrom(0, random)));
            Assert.Contains("peer", diverged.Message);
        }
    }

    [Fact]
    public void Trim_BeyondWhatReplayMadeAgain_Diverges()
    {
        using var bench = new OutboxBench();
        Channel channel = Channel.Random(new SimulatedRandom(1), 5);
        bench.AppendAll(channel.RunsFrom(0, new SimulatedRandom(1)));
        Assert.Throws<DivergenceException>(() => bench.Outbox.Trim(6)); // the log says that a peer has six: the app made five
    }

    [Fact]
    public void AppendImpulses_BetweenCalls_KeepOrderAndStayOutOfTheHash() => Made.Seeds(100, random =>
    {
        Channel channel = Channel.Random(random, 30);
        using var bench = new OutboxBench(random.Chance(30) ? -1 : 1000);
        var emitted = new List<byte[]>();
        ulong ticket = 0;
        foreach (byte[] run in channel.RunsFrom(0, random))
        {
            bench.Append(run);
            emitted.AddRange(Made.MessagesOf(RunView.Read(run)));
            if (!random.Chance(50)) continue;
            byte[][] impulses = [
                .. Enumerable.Range(0, random.Next(1, 4)).Select(i => Made.Message(MessageKind.Impulse, 5000 + ticket + (ulong)i, 5))];
            Assert.Equal(ticket + (ulong)impulses.Length, bench.AppendImpulses(ticket + 1, s_epoch, impulses));
            ticket += (ulong)impulses.Length;
            emitted.AddRange(impulses);
        }
        Assert.Equal(channel.Positions[^1], bench.Outbox.Known);
        var link = new SendCursor(bench.Outbox, 5, Ambrosia.Protocol.SizeLimits.MessageBytesMaxDefault);
        link.Resume(0, 0);
        List<byte[]> runs = Drain(link);
        Assert.Equal(emitted, runs.SelectMany(static run => Made.MessagesOf(RunView.Read(run))));
        Assert.All(runs.Select(static run => RunView.Read(run).Header).Where(static h => h.Kind == MessageKind.Impulse),
            static h => Assert.Equal(s_epoch.Value, h.Hash));
        link.End();

        bench.LeaveBlock();
        bench.Outbox.Trim(channel.Count);
        Assert.Equal(ticket, bench.Outbox.ImpulsesDurable(ticket));
        bench.AssertNothingKept();
    });

    [Fact]
    public void AppendImpulses_NextSession_CountsTicketsFromOneAndNumbersOn()
    {
        using var bench = new OutboxBench();
        byte[] impulse = Made.Message(MessageKind.Impulse, 1, 3);
        Assert.Equal(2ul, bench.AppendImpulses(1, s_epoch, impulse, impulse));
        Assert.Equal("P5.9", Assert.Throws<ProtocolViolation>(() => bench.AppendImpulses(4, s_epoch, impulse)).Section);
        bench.Outbox.BeginSession(default);
        Assert.Equal(3ul, bench.AppendImpulses(1, s_epoch, impulse));
        Assert.Equal(0ul, bench.Outbox.ImpulsesDurable(2)); // of the session before: nobody waits for them
        Assert.Equal(1ul, bench.Outbox.ImpulsesDurable(3));
        Assert.Equal(0ul, bench.Outbox.ImpulsesDurable(3));
        Assert.Equal("P6.8", Assert.Throws<ProtocolViolation>(() => bench.Outbox.ImpulsesDurable(4)).Section);
    }

    [Fact]
    public void HoldCalls_WhileTrimmed_KeepsBytesUntilLet()
    {
        foreach (int blocksMax in new[] { 1000, -1 })
        {
            var random = new SimulatedRandom(5);
            Channel channel = Channel.Random(random, 40);
            using var bench = new OutboxBench(blocksMax);
            bench.AppendAll(channel.RunsFrom(0, random));
            bench.LeaveBlock();
            var held = new List<OutboxEntry>();
            bench.Outbox.HoldCalls(10, 30, held);
            Assert.Equal((true, true),
                (held[0].First <= 11 && held[0].End.Number >= 11, held[^1].First <= 30 && held[^1].End.Number >= 30));
            bench.Outbox.Trim(channel.Count);
            var messages = new List<byte[]>();
            foreach (OutboxEntry entry in held)
            {
                byte[] frame = new byte[entry.FrameBytes];
                bench.Outbox.CopyFrame(entry, frame);
                messages.AddRange(Made.MessagesOf(RunView.Read(frame.AsSpan(FrameHeader.Bytes))));
                bench.Outbox.Release(entry);
            }
            Assert.Equal(channel.Messages.Skip((int)held[0].First - 1).Take(messages.Count).Select(static m => m.Bytes), messages);
            bench.AssertNothingKept();
        }
    }
}
