using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// An outbox whose receiver is forgotten (log-format L5.14): what was for the old one is gone, numbers and hash begin anew.
/// </summary>
public sealed class ForgottenReceiverTests : IDisposable
{
    private readonly SimulatedRandom _random = new(7);
    private readonly OutboxBench _bench = new();
    private readonly Channel _old = Channel.Random(new SimulatedRandom(1), 30), _young = Channel.Random(new SimulatedRandom(2), 20);

    private void Emit(Channel channel, ulong from, ulong to)
    {
        foreach (byte[] run in channel.RunsFrom(from, _random).TakeWhile(_ => _bench.Outbox.Emitted.Number < to)) _bench.Append(run);
    }

    [Theory]
    [InlineData(1000)]
    [InlineData(-1)]
    public void Cut_CallsThatAreKept_AreDroppedAndTheNextIsNumberOne(int blocksMax)
    {
        using var there = new OutboxBench(blocksMax);
        there.AppendAll(_old.RunsFrom(0, _random));
        there.Outbox.Trim(10);
        Assert.Equal(20ul, there.Outbox.Cut());
        Assert.Equal((0ul, 0ul, 0L, false),
            (there.Outbox.Status.Known, there.Outbox.Status.Trimmed, there.Outbox.Status.KeptBytes, there.Outbox.HasUnsent));
        there.AppendAll(_young.RunsFrom(0, _random));
        Assert.Equal(_young.Positions[^1], there.Outbox.Known);

        var sent = new List<byte[]>();
        while (there.Outbox.TryNext(out OutboxEntry entry))
        {
            byte[] frame = new byte[entry.FrameBytes];
            there.Outbox.CopyFrame(entry, frame);
            Assert.Equal((ulong)sent.Count + 1, RunView.Read(frame.AsSpan(FrameHeader.Bytes)).Header.First);
            sent.AddRange(Made.MessagesOf(RunView.Read(frame.AsSpan(FrameHeader.Bytes))));
            there.Outbox.Release(entry);
        }
        Assert.Equal(_young.Messages.Select(static m => m.Bytes), sent);
        there.Outbox.Trim(20, forgotten: 1);
        Assert.Equal(0, there.Scratch.LiveBytes);
    }

    [Fact]
    public void Trim_OfTheOneBefore_MeansNothing()
    {
        _bench.AppendAll(_old.RunsFrom(0, _random));
        _bench.Outbox.Cut();
        _bench.Outbox.Trim(30, forgotten: 0); // more than the new one was ever sent
        _bench.AppendAll(_young.RunsFrom(0, _random));
        _bench.Outbox.Trim(3, forgotten: 1);
        Assert.Equal(3ul, _bench.Outbox.Trimmed.Number);
        Assert.Throws<DivergenceException>(() => _bench.Outbox.Trim(21, forgotten: 1));
    }

    /// <summary>
    /// A session that replays from before the record comes through both generations again, from any place, and adds nothing.
    /// </summary>
    [Fact]
    public void Session_FromBeforeTheCut_GoesThroughItAgain()
    {
        _bench.AppendAll(_old.RunsFrom(0, _random));
        _bench.Outbox.Trim(30);
        _bench.Outbox.Cut();
        _bench.AppendAll(_young.RunsFrom(0, _random));
        for (ulong from = 0; from <= _old.Count; from += 10)
        {
            _bench.Outbox.BeginSession(_old.Positions[(int)from], forgotten: 0);
            _bench.AppendAll(_old.RunsFrom(from, _random));
            Assert.Null(_bench.Outbox.Cut());
            _bench.AppendAll(_young.RunsFrom(0, _random));
            Assert.Equal((_young.Positions[^1], _young.Positions[^1]), (_bench.Outbox.Emitted, _bench.Outbox.Known));
        }
        _bench.Outbox.BeginSession(_young.Positions[5], forgotten: 1);
        _bench.AppendAll(_young.RunsFrom(5, _random));
        Assert.Equal(_young.Positions[^1], _bench.Outbox.Known);
        Assert.Throws<InvalidOperationException>(() => _bench.Outbox.BeginSession(default, forgotten: 2));
    }

    /// <summary>Negative controls: other calls on either side of the cut are found.</summary>
    [Fact]
    public void Session_ThatEmitsLessOrOtherCalls_Diverges()
    {
        _bench.AppendAll(_old.RunsFrom(0, _random));
        _bench.Outbox.BeginSession(default);
        Emit(_old, 0, 5);
        Assert.Throws<DivergenceException>(() => _bench.Outbox.Cut());

        _bench.Outbox.BeginSession(default);
        _bench.AppendAll(_old.RunsFrom(0, _random));
        _bench.Outbox.Cut();
        _bench.AppendAll(_young.RunsFrom(0, _random));
        _bench.Outbox.BeginSession(default, forgotten: 1);
        Assert.Throws<DivergenceException>(() => _bench.AppendAll(_old.RunsFrom(0, _random)));
    }

    [Fact]
    public void Impulses_AcrossTheCut_BeginAtOneWhileTicketsGoOn()
    {
        byte[] message = Made.Message(MessageKind.Impulse, 1, 4);
        Assert.Equal(2ul, _bench.AppendImpulses(1, new Epoch(1), message, message));
        Assert.Equal(1ul, _bench.Outbox.ImpulsesDurable(1));
        _bench.Outbox.Cut();
        Assert.Equal(1ul, _bench.AppendImpulses(3, new Epoch(1), message));
        Assert.Equal("P5.9", Assert.Throws<ProtocolViolation>(() => _bench.AppendImpulses(5, new Epoch(1), message)).Section);
        Assert.Equal("P6.8", Assert.Throws<ProtocolViolation>(() => _bench.Outbox.ImpulsesDurable(2)).Section);
        Assert.Equal(3ul, _bench.Outbox.ImpulsesDurable(1));
    }

    [Fact]
    public void Clear_OfASecondarysOutbox_KeepsNoBytesAndNoGeneration()
    {
        _bench.AppendAll(_old.RunsFrom(0, _random));
        _bench.Outbox.Cut();
        _bench.AppendAll(_young.RunsFrom(0, _random));
        _bench.Outbox.Clear();
        Assert.Equal((0L, 0), (_bench.Outbox.Status.KeptBytes, _bench.Outbox.Generation));
        _bench.Outbox.RestoreGeneration(3);
        _bench.Outbox.BeginSession(default, forgotten: 3);
        Assert.Equal(0ul, _bench.Outbox.Cut());
        Assert.Equal(4, _bench.Outbox.Generation);
    }

    public void Dispose() => _bench.Dispose();
}
