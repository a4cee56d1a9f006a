using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// An operator gives a peer up while another one sends and the pump commits. The record that forgets it is in the log once and durable, and
/// so is what was sent.
/// </summary>
internal sealed class ForgetPeerScenario : Scenario
{
    public override World Make() => new ForgetPeerWorld();

    private sealed class ForgetPeerWorld : World
    {
        private readonly PumpedLog _log = new();
        private readonly DedupTable _dedup = new(new InstanceId("self"));
        private readonly OutboxBench _outboxes = new();
        private readonly InboundChannel _sender;

        public ForgetPeerWorld()
        {
            _sender = _dedup.Admitted(new InstanceId("sender"), new Guid(1, 0, 0, new byte[8]), new Epoch(1));
            InboundChannel gone = _dedup.Admitted(new InstanceId("gone"), new Guid(2, 0, 0, new byte[8]), new Epoch(1));
            Assert.True(_dedup.TryLog(gone, TryAppendPeer, out _));
            _log.Log.Commit();
            var runs = new InboundRuns(_log.Appender, _dedup, _sender, 1 << 20);
            byte[] run = DedupTableScenario.Runs(100)[0];
            _log.Start(durable => _dedup.AdvanceDurable(durable, [], out _));
            Threads.Add(("send", () =>
            {
                Assert.True(runs.TryTake(run));
                _log.Appender.WakeCommitter(drained: true);
            }));
            Threads.Add(("operate", Forget));
        }

        private void Forget()
        {
            var steps = new ForgetSteps(Guid.Empty, _dedup, _outboxes.Set, TryAppend, TryAppendPeer, static _ => 0,
                () => _log.Pump.Commit(drained: true));
            IAdminReply reply = ForgetPeerCommand.Begin(new JsonObject { ["peer"] = "gone" }, isPrimary: true, steps);
            Plants.LogPlants.Committing = _log.Pump.Commit;
            Assert.Null(reply.Next(out bool isLast));
            Assert.False(isLast);
        }

        private bool TryAppendPeer(PeerRecord record, out Lsn end) =>
            _log.Appender.TryAppend(record, out end);

        private bool TryAppend(ForgetRecord record) => _log.Appender.TryAppend(record, out _);

        public override void Check()
        {
            _log.AssertCommitted();
            Assert.Equal(1ul, _dedup.DurableOf(_sender).Number);
            Assert.Single(_log.Log.Records(), static record => record.Kind == RecordKind.Forget);
        }

        public override void Dispose()
        {
            _log.Dispose();
            base.Dispose();
        }
    }
}
