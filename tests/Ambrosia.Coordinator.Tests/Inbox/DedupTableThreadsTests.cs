using Ambrosia.Coordinator.Inbox;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The table of inputs and the log are used by many threads, and each leads into the other: the log says where a record ends, which takes
/// the table's lock, and the table appends under its lock. A test that would hang fails, and leaves a thread of the background behind.
/// </summary>
public sealed class DedupTableThreadsTests : IDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(20);
    private readonly OpenedLog _log = new();
    private readonly DedupTable _dedup = new(new InstanceId("self"));

    /// <summary>One run longer than a page, beside one peer that comes back.</summary>
    [Theory]
    [InlineData(100)]
    [InlineData(100_000)]
    public void TryLog_WhileARunIsAnnounced_EndsBoth(int bytes)
    {
        InboundChannel sender = _dedup.Admitted(new InstanceId("sender"), Guid.NewGuid(), new Epoch(1));
        InboundChannel comer = _dedup.Admitted(new InstanceId("comer"), Guid.NewGuid(), new Epoch(1));
        using var announced = new ManualResetEventSlim();
        using var tableIsHeld = new ManualResetEventSlim();
        byte[] run = Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, bytes)], peer: sender.Id);
        RunHeader header = RunView.Read(run).Header;
        Thread writer = Started(() => _log.Appender.TryAppendRun(RecordKind.Run, header, run.AsSpan(RunHeader.Bytes), end =>
        {
            announced.Set();
            tableIsHeld.Wait(s_limit);
            _dedup.Appended(sender, header, end);
        }));
        Assert.True(announced.Wait(s_limit), "the run has its place");
        Thread peer = Started(() => _dedup.TryLog(comer, (PeerRecord record, out Lsn end) =>
        {
            tableIsHeld.Set();
            return _log.Appender.TryAppend(record, out end);
        }, out _));
        Assert.True(peer.Join(s_limit), "the peer's record is appended while the run is announced");
        Assert.True(writer.Join(s_limit), "the run is announced");
        _log.Commit();
        Assert.Equal([RecordKind.Run, RecordKind.Peer, RecordKind.Peer], _log.Records().Select(static r => r.Kind));
        Assert.Equal(1ul, _dedup.AppendedOf(sender).Number);
    }

    /// <summary>
    /// The fault that was, planted: the log told where a run ends while it held its lock, and the table's lock was asked for there. It is
    /// found on one thread, without the other that would have closed the circle.
    /// </summary>
    [Fact]
    public void Appended_UnderTheLogsLock_IsRefused()
    {
        InboundChannel sender = _dedup.Admitted(new InstanceId("sender"), Guid.NewGuid(), new Epoch(1));
        byte[] run = Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 100)], peer: sender.Id);
        RunHeader header = RunView.Read(run).Header;
        var pool = new RankedLock(LockRank.PagePool);
        using (pool.Enter())
        {
            string why = Assert.Throws<LockOrderException>(() => _dedup.Appended(sender, header, new Lsn(4096))).Message;
            Assert.StartsWith("PagePool (rank 700) is held where DedupTable (rank 370) is asked for.", why, StringComparison.Ordinal);
            // The log itself announces nothing under such a lock, whoever listens.
            why = Assert.Throws<LockOrderException>(
                () => _log.Appender.TryAppendRun(RecordKind.Run, header, run.AsSpan(RunHeader.Bytes), static _ => { })).Message;
            Assert.StartsWith("PagePool (rank 700) is held over a CallOut", why, StringComparison.Ordinal);
        }
    }

    /// <summary>The fault that was, planted: a commit under the table's lock waits for a writer who waits for that lock.</summary>
    [Fact]
    public void Commit_UnderTheTablesLock_IsRefused()
    {
        InboundChannel comer = _dedup.Admitted(new InstanceId("comer"), Guid.NewGuid(), new Epoch(1));
        string why = Assert.Throws<LockOrderException>(() => _dedup.TryLog(comer, (PeerRecord record, out Lsn end) =>
        {
            Assert.True(_log.Appender.TryAppend(record, out end));
            _log.Commit();
            return true;
        }, out _)).Message;
        Assert.StartsWith("DedupTable (rank 370) is held over a Commit", why, StringComparison.Ordinal);
    }

    private static Thread Started(Action work)
    {
        var thread = new Thread(() => work()) { IsBackground = true };
        thread.Start();
        return thread;
    }

    public void Dispose() => _log.Dispose();
}
