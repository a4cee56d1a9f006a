using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// An outbox whose receiver is forgotten (log-format L5.14): what was for the old one is gone, numbers and hash begin anew.
/// </summary>
public sealed class ForgottenReceiverTests : IDisposable
{
    private readonly SimulatedRandom random = new(7);
    private readonly OutboxBench bench = new();
    private readonly Channel old = Channel.Random(new SimulatedRandom(1), 30), young = Channel.Random(new SimulatedRandom(2), 20);

    private void Emit(Channel channel, ulong from, ulong to)
    {
        foreach (byte[] run in channel.RunsFrom(from, random).TakeWhile(_ => bench.Outbox.Emitted.Number < to)) bench.Append(run);
    }

    [Theory]
    [InlineData(1000)]
    [InlineData(-1)]
    public void Cut_CallsThatAreKept_AreDroppedAndTheNextIsNumberOne(int blocksMax)
    {
        using var there = new OutboxBench(blocksMax);
        there.AppendAll(old.RunsFrom(0, random));
        there.Outbox.Trim(10);
        Assert.Equal(20ul, there.Outbox.Cut());
        Assert.Equal((0ul, 0ul, 0L, false),
            (there.Outbox.News.Known, there.Outbox.News.Trimmed, there.Outbox.News.KeptBytes, there.Outbox.HasUnsent));
        there.AppendAll(young.RunsFrom(0, random));
        Assert.Equal(young.Positions[^1], there.Outbox.Known);

        var sent = new List<byte[]>();
        while (there.Outbox.TryNext(out OutboxEntry entry))
        {
            byte[] frame = new byte[entry.FrameBytes];
            there.Outbox.CopyFrame(entry, frame);
            Assert.Equal((ulong)sent.Count + 1, RunView.Read(frame.AsSpan(FrameHeader.Bytes)).Header.First);
            sent.AddRange(Made.MessagesOf(RunView.Read(frame.AsSpan(FrameHeader.Bytes))));
            there.Outbox.Let(entry);
        }
        Assert.Equal(young.Messages.Select(static m => m.Bytes), sent);
        there.Outbox.Trim(20, forgotten: 1);
        Assert.Equal(0, there.Scratch.LiveBytes);
    }

    [Fact]
    public void Trim_OfTheOneBefore_MeansNothing()
    {
        bench.AppendAll(old.RunsFrom(0, random));
        bench.Outbox.Cut();
        bench.Outbox.Trim(30, forgotten: 0); // more than the new one was ever sent
        bench.AppendAll(young.RunsFrom(0, random));
        bench.Outbox.Trim(3, forgotten: 1);
        Assert.Equal(3ul, bench.Outbox.Trimmed.Number);
        Assert.Throws<DivergenceException>(() => bench.Outbox.Trim(21, forgotten: 1));
    }

    /// <summary>
    /// A session that replays from before the record comes through both generations again, from any place, and adds nothing.
    /// </summary>
    [Fact]
    public void Session_FromBeforeTheCut_GoesThroughItAgain()
    {
        bench.AppendAll(old.RunsFrom(0, random));
        bench.Outbox.Trim(30);
        bench.Outbox.Cut();
        bench.AppendAll(young.RunsFrom(0, random));
        for (ulong from = 0; from <= old.Count; from += 10)
        {
            bench.Outbox.BeginSession(old.Positions[(int)from], forgotten: 0);
            bench.AppendAll(old.RunsFrom(from, random));
            Assert.Null(bench.Outbox.Cut());
            bench.AppendAll(young.RunsFrom(0, random));
            Assert.Equal((young.Positions[^1], young.Positions[^1]), (bench.Outbox.Emitted, bench.Outbox.Known));
        }
        bench.Outbox.BeginSession(young.Positions[5], forgotten: 1);
        bench.AppendAll(young.RunsFrom(5, random));
        Assert.Equal(young.Positions[^1], bench.Outbox.Known);
        Assert.Throws<InvalidOperationException>(() => bench.Outbox.BeginSession(default, forgotten: 2));
    }

    /// <summary>Negative controls: other calls on either side of the cut are found.</summary>
    [Fact]
    public void Session_ThatEmitsLessOrOtherCalls_Diverges()
    {
        bench.AppendAll(old.RunsFrom(0, random));
        bench.Outbox.BeginSession(default);
        Emit(old, 0, 5);
        Assert.Throws<DivergenceException>(() => bench.Outbox.Cut());

        bench.Outbox.BeginSession(default);
        bench.AppendAll(old.RunsFrom(0, random));
        bench.Outbox.Cut();
        bench.AppendAll(young.RunsFrom(0, random));
        bench.Outbox.BeginSession(default, forgotten: 1);
        Assert.Throws<DivergenceException>(() => bench.AppendAll(old.RunsFrom(0, random)));
    }

    [Fact]
    public void Impulses_AcrossTheCut_BeginAtOneWhileTicketsGoOn()
    {
        byte[] message = Made.Message(MessageKind.Impulse, 1, 4);
        Assert.Equal(2ul, bench.AppendImpulses(1, new Epoch(1), message, message));
        Assert.Equal(1ul, bench.Outbox.ImpulsesDurable(1));
        bench.Outbox.Cut();
        Assert.Equal(1ul, bench.AppendImpulses(3, new Epoch(1), message));
        Assert.Equal("P5.9", Assert.Throws<ProtocolViolation>(() => bench.AppendImpulses(5, new Epoch(1), message)).Section);
        Assert.Equal("P6.8", Assert.Throws<ProtocolViolation>(() => bench.Outbox.ImpulsesDurable(2)).Section);
        Assert.Equal(3ul, bench.Outbox.ImpulsesDurable(1));
    }

    [Fact]
    public void Clear_OfASecondarysOutbox_KeepsNoBytesAndNoGeneration()
    {
        bench.AppendAll(old.RunsFrom(0, random));
        bench.Outbox.Cut();
        bench.AppendAll(young.RunsFrom(0, random));
        bench.Outbox.Clear();
        Assert.Equal((0L, 0), (bench.Outbox.News.KeptBytes, bench.Outbox.Generation));
        bench.Outbox.RestoreGeneration(3);
        bench.Outbox.BeginSession(default, forgotten: 3);
        Assert.Equal(0ul, bench.Outbox.Cut());
        Assert.Equal(4, bench.Outbox.Generation);
    }

    public void Dispose() => bench.Dispose();
}
