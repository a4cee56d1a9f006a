using System.Buffers.Binary;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// Two threads append records, small, page-ending and longer than a page, and one commits until all of it is durable. The log holds each
/// record once and whole, those of a thread in their order.
/// </summary>
internal sealed class PagePoolScenario : Scenario
{
    public override World Make() => new PagePoolWorld();

    private sealed class PagePoolWorld : World
    {
        private readonly OpenedLog _log = PumpedLog.Prepared();
        private readonly int[][] _sizes = [[40, 8000, 300], [200, 9000, 60]];
        private int _left;

        public PagePoolWorld()
        {
            _left = _sizes.Length;
            for (int i = 0; i < _sizes.Length; i++)
            {
                int number = i;
                Threads.Add(($"append {i}", () => Append(number)));
            }
            Threads.Add(("commit", Commit));
        }

        private void Append(int by)
        {
            for (int i = 0; i < _sizes[by].Length; i++)
            {
                byte[] body = Body(by, i, _sizes[by][i]);
                var spin = new SpinWait();
                while (!_log.Appender.TryAppend(RecordKind.Run, body, out _)) spin.SpinOnce();
            }
            Interlocked.Decrement(ref _left);
        }

        private static byte[] Body(int by, int number, int bytes)
        {
            byte[] body = new byte[bytes];
            body.AsSpan().Fill((byte)(by * 16 + number + 1));
            BinaryPrimitives.WriteInt32LittleEndian(body, by);
            BinaryPrimitives.WriteInt32LittleEndian(body.AsSpan(4), number);
            return body;
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
            Assert.Equal(_log.Writer.Tail, _log.Writer.Durable);
            int[] next = new int[_sizes.Length];
            foreach (LoggedRecord record in _log.Records())
            {
                int by = BinaryPrimitives.ReadInt32LittleEndian(record.Body);
                Assert.Equal(Body(by, next[by], _sizes[by][next[by]]), record.Body.ToArray());
                next[by]++;
            }
            Assert.Equal(_sizes.Select(static each => each.Length), next);
        }

        public override void Dispose()
        {
            _log.Dispose();
            base.Dispose();
        }
    }
}
