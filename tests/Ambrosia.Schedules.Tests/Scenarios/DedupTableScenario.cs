using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// A peer sends a run longer than a page and a short one, another comes back, so that its epoch is logged, and the pump commits. The table
/// and the log agree in the end: what was appended is durable, and the table says so.
/// </summary>
internal sealed class DedupTableScenario : Scenario
{
    public override World Make() => new DedupTableWorld();

    private sealed class DedupTableWorld : World
    {
        private readonly PumpedLog _log = new();
        private readonly DedupTable _dedup = new(new InstanceId("self"));
        private readonly InboundChannel _sender, _comer;

        public DedupTableWorld()
        {
            _sender = _dedup.Admitted(new InstanceId("sender"), new Guid(1, 0, 0, new byte[8]), new Epoch(1));
            _comer = _dedup.Admitted(new InstanceId("comer"), new Guid(2, 0, 0, new byte[8]), new Epoch(1));
            var runs = new InboundRuns(_log.Appender, _dedup, _sender, 1 << 20);
            byte[][] made = Runs(9_000, 50);
            _log.Start(durable => _dedup.AdvanceDurable(durable, [], out _));
            Threads.Add(("send", () =>
            {
                foreach (byte[] run in made) Assert.True(runs.TryTake(run));
                _log.Appender.WakeCommitter(drained: true);
            }));
            Threads.Add(("come", () =>
            {
                Assert.True(_dedup.TryLog(_comer, TryAppend, out _));
                _log.Appender.WakeCommitter(drained: true);
            }));
        }

        private bool TryAppend(PeerRecord record, out Lsn end) =>
            _log.Appender.TryAppend(record, out end);

        public override void Check()
        {
            _log.AssertCommitted();
            Assert.Equal((2ul, 2ul), (_dedup.AppendedOf(_sender).Number, _dedup.DurableOf(_sender).Number));
            Assert.Equal((2, 2), (Count(RecordKind.Run), Count(RecordKind.Peer)));
        }

        private int Count(RecordKind kind) => _log.Log.Records().Count(record => record.Kind == kind);

        public override void Dispose()
        {
            _log.Dispose();
            base.Dispose();
        }
    }

    /// <summary>Makes the runs of one channel, each of one message of so many bytes.</summary>
    public static byte[][] Runs(params int[] bytes)
    {
        var hasher = new ChannelHasher();
        return [
            .. bytes.Select((length, i) =>
            {
                byte[] message = Made.Message(MessageKind.Fork, (ulong)i + 1, length);
                hasher.Append(MessageKind.Fork, message);
                return Made.Run(MessageKind.Fork, (ulong)i + 1, hasher.Hash, [message]);
            })];
    }
}
