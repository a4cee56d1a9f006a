using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// A record that wants a page of its own comes beside two threads that append, and one that commits. It has its page, or it is not in the
/// log; all others are there once and whole.
/// </summary>
internal sealed class AloneScenario : Scenario
{
    public override World Make() => new AloneWorld();

    private sealed class AloneWorld : World
    {
        private const int PerThread = 2, Tries = 3;

        private readonly OpenedLog _log = PumpedLog.Prepared();
        private int _left = 3;
        private Lsn? _alone;

        public AloneWorld()
        {
            Threads.Add(("append 0", () => Append(1)));
            Threads.Add(("append 1", () => Append(2)));
            Threads.Add(("alone", AppendAlone));
            Threads.Add(("commit", Commit));
        }

        private void Append(byte by)
        {
            for (int i = 0; i < PerThread; i++)
            {
                var spin = new SpinWait();
                while (!_log.Appender.TryAppend(RecordKind.Run, [by, (byte)i], out _)) spin.SpinOnce();
            }
            Interlocked.Decrement(ref _left);
        }

        private void AppendAlone()
        {
            for (int i = 0; i < Tries && _alone is null; i++)
            {
                Lsn tail = _log.Writer.Tail;
                if (_log.Appender.TryAppendAlone(tail, RecordKind.Digest, [3])) _alone = tail;
            }
            Interlocked.Decrement(ref _left);
        }

        private void Commit()
        {
            var spin = new SpinWait();
            while (true)
            {
                bool isLast = Volatile.Read(ref _left) == 0;
                CommitStep step = _log.CommitStep();
                if (step == CommitStep.Park && isLast) return;
                if (step != CommitStep.Again) spin.SpinOnce();
            }
        }

        public override void Check()
        {
            List<LoggedRecord> all = _log.Records();
            for (byte by = 1; by <= 2; by++)
                Assert.Equal(Enumerable.Range(0, PerThread).Select(static i => (byte)i),
                    all.Where(record => record.Kind == RecordKind.Run && record.Body[0] == by).Select(static record => record.Body[1]));
            LoggedRecord? alone = all.SingleOrDefault(static record => record.Kind == RecordKind.Digest);
            Assert.Equal(_alone, alone?.Page);
            if (alone is not null) Assert.Equal(alone, all.Single(record => record.Page == alone.Page));
        }

        public override void Dispose()
        {
            _log.Dispose();
            base.Dispose();
        }
    }
}
