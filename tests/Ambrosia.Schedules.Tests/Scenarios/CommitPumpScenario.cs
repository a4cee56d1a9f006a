using Ambrosia.Coordinator.Tests;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// Two threads append and wake the committer, one as a receiver with a drained socket does, one as a receiver with more to come, and the
/// pump's own thread commits. When all rest, everything appended is durable without a further append, and no two have committed at once.
/// </summary>
internal sealed class CommitPumpScenario : Scenario
{
    public override World Make() => new CommitPumpWorld();

    private sealed class CommitPumpWorld : World
    {
        private readonly PumpedLog _log = new();

        public CommitPumpWorld()
        {
            _log.Start();
            Threads.Add(("drained", () => Append(2, drained: true)));
            Threads.Add(("more", () => Append(2, drained: false)));
        }

        private void Append(int records, bool drained)
        {
            for (int i = 0; i < records; i++)
            {
                Assert.True(_log.Appender.TryAppend(RecordKind.Run, new byte[100], out _));
                _log.Appender.WakeCommitter(drained);
            }
        }

        public override void Check()
        {
            _log.AssertCommitted();
            Assert.Equal(4, _log.Log.Records().Count(static (LoggedRecord record) => record.Kind == RecordKind.Run));
        }

        public override void Dispose()
        {
            _log.Dispose();
            base.Dispose();
        }
    }
}
