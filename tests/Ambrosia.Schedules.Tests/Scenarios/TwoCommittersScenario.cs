using Ambrosia.Coordinator.Tests;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// Two threads append, and whichever finds the committer idle takes groups from the log itself, with no lock of a pump around it. The one
/// token decides who commits: no group is committed by both, and nothing is forgotten between them.
/// </summary>
internal sealed class TwoCommittersScenario : Scenario
{
    public override World Make() => new TwoCommittersWorld();

    private sealed class TwoCommittersWorld : World
    {
        private readonly OpenedLog _log = PumpedLog.Prepared();

        public TwoCommittersWorld()
        {
            Threads.Add(("first", Append));
            Threads.Add(("second", Append));
        }

        private void Append()
        {
            for (int i = 0; i < 2; i++)
            {
                Assert.True(_log.Writer.TryReserve(200, out Reservation room));
                new RecordHeader(200 - RecordHeader.Bytes, RecordKind.Run).Write(room.Bytes);
                room.Bytes[RecordHeader.Bytes..].Clear();
                if (_log.Writer.Leave(room)) Commit();
            }
        }

        private void Commit()
        {
            var spin = new SpinWait();
            while (true)
            {
                CommitReadiness readiness = _log.Writer.Begin(out CommitGroup? group);
                if (readiness == CommitReadiness.WritersInside) spin.SpinOnce();
                else if (readiness != CommitReadiness.Ready) return;
                if (group is null) continue;
                group.Write();
                group.Flush();
                group.CheckFence();
                _log.Writer.Complete(group);
            }
        }

        public override void Check()
        {
            Assert.Equal(_log.Writer.Tail, _log.Writer.Durable);
            Assert.Equal(4, _log.Records().Count(static record => record.Kind == RecordKind.Run));
        }

        public override void Dispose()
        {
            _log.Dispose();
            base.Dispose();
        }
    }
}
