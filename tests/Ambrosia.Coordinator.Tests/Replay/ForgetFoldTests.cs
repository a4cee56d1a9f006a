using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What a Forget record does to the fold of the log (log-format L5.14), and to what of it goes through a checkpoint.</summary>
public sealed class ForgetFoldTests
{
    private static readonly InstanceId s_name = new("x"), s_other = new("y");
    private static readonly Guid s_old = Guid.NewGuid(), s_young = Guid.NewGuid();
    private readonly ReplayState _state = new();
    private ulong _lsn = 64;

    public ForgetFoldTests()
    {
        Fold(new PeerRecord(1, s_name, s_old, new Epoch(4)));
        Fold(new PeerRecord(2, s_other, Guid.NewGuid(), new Epoch(1)));
        FoldRun(1, 1, 5);
        Fold(new TrimRecord([new TrimPosition(1, 7)]));
    }

    private void Fold<T>(T record) where T : IRecordBody<T> => Fold(RecordKinds.EncodeWhole(record));

    private void Fold(byte[] record)
    {
        var reader = new RecordReader(record, new Lsn(_lsn));
        Assert.True(reader.Next());
        _state.Fold(reader);
        _lsn = reader.End.Value;
    }

    private void FoldRun(uint origin, ulong first, uint count)
    {
        byte[] run = Made.Run(MessageKind.Fork, first, 9,
            [.. Enumerable.Range(0, (int)count).Select(static i => Made.Message(MessageKind.Fork, (ulong)i + 1, 3))], peer: origin);
        byte[] record = new byte[RecordHeader.Bytes + run.Length];
        new RecordHeader((uint)run.Length, RecordKind.Run).Write(record);
        run.CopyTo(record, RecordHeader.Bytes);
        Fold(record);
    }

    private void Broken(string section, Action act) => Assert.Equal(section, Assert.Throws<ProtocolViolation>(act).Section);

    [Fact]
    public void Forget_OfAPeer_FreesItsNameAndForgetsItsNumbers()
    {
        Fold(new ForgetRecord(1, s_old));
        Assert.Equal((default(InputPosition), 1, 0), (_state.InputsOf(1), _state.GenerationOf(s_name), _state.GenerationOf(s_other)));
        Assert.Empty(_state.Trims);
        Fold(new TrimRecord([new TrimPosition(1, 9), new TrimPosition(2, 3)])); // it was on its way
        Assert.Equal([2u], _state.Trims.Keys);
        Fold(new PeerRecord(3, s_name, s_young, new Epoch(1)));
        FoldRun(3, 1, 2);
        Assert.Equal(2ul, _state.InputsOf(3).Number);
        Fold(new ForgetRecord(3, s_young));
        Assert.Equal(2, _state.GenerationOf(s_name));
    }

    [Fact]
    public void Records_OfAForgottenPeer_AreDamage()
    {
        Fold(new ForgetRecord(1, s_old));
        Broken("L5.14", () => FoldRun(1, 6, 1));
        Broken("L5.14", () => Fold(new PeerRecord(1, s_name, s_old, new Epoch(5))));
        Broken("L5.14", () => Fold(new ForgetRecord(1, s_old)));
        Broken("L5.14", () => Fold(new ForgetRecord(2, s_old))); // not that one's UUID
        Broken("L5.14", () => Fold(new ForgetRecord(9, s_old)));
    }

    [Fact]
    public void Fold_ThroughACheckpoint_KnowsWhoIsForgotten()
    {
        Fold(new ForgetRecord(1, s_old));
        Fold(new PeerRecord(3, s_name, s_young, new Epoch(1)));
        var peers = _state.Peers.Select(p => new CheckpointPeer(p.Origin, p.Peer, p.Uuid, p.Epoch, _state.InputsOf(p.Origin).Impulses));
        var inputs = Enumerable.Range(0, 4).Select(o => new CheckpointInput((uint)o, _state.InputsOf((uint)o).Number, 0));
        CoordinatorPart part = CoordinatorPart.Read(new CoordinatorPart([.. peers], [.. inputs], [], Lsn.Zero, []).ToBytes());
        ReplayState restored = ReplayState.From(part);
        Assert.Equal((1, true, false),
            (restored.GenerationOf(s_name), ReplayState.IsForgotten(restored.Peers[0]), ReplayState.IsForgotten(restored.Peers[2])));
        Assert.Equal(1, restored.Clone().GenerationOf(s_name));

        var dedup = new DedupTable(new InstanceId("self"));
        dedup.Restore(restored);
        Assert.Equal((3u, s_young), (dedup.Find(s_name)!.Id, dedup.Find(s_name)!.Uuid));
        Assert.True(dedup.WasForgotten(s_name, s_old));
        Assert.Equal(["y", "x"], dedup.Peers().Select(static o => o.Instance.Name));
    }

    [Fact]
    public void Progress_ReportThatPassesOverACut_IsAViolation()
    {
        var book = new DeliveryTracker();
        book.Begin(new Lsn(64), new Lsn(0));
        using var bench = new OutboxBench();
        book.Delivered(new DeliveredPage(new Lsn(0), new Lsn(64), new Lsn(200), default, []),
            [new OutboxCut(new Lsn(120), bench.Outbox), new OutboxCut(new Lsn(150), bench.Outbox)]);
        Assert.False(book.Report(new Lsn(100), []));
        Assert.Null(book.TakeCut(new Lsn(100)));
        Broken("P5.6", () => book.Report(new Lsn(121), []));
        book.Report(new Lsn(120), []);
        Assert.Same(bench.Outbox, book.TakeCut(new Lsn(120)));
        Assert.Null(book.TakeCut(new Lsn(120)));
        Broken("P5.6", () => book.Report(new Lsn(200), []));
        book.Report(new Lsn(150), []);
        Assert.NotNull(book.TakeCut(new Lsn(150)));
        book.Report(new Lsn(200), []);
    }
}
