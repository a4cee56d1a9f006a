using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// The app's reader appends runs and tells of them through the notifier's round, a sender that sleeps between them sends over one
/// connection and, after a cut, on from where the peer stands over another, and what the peer has is trimmed. Every call goes out in order
/// and without a gap, nobody sleeps while there is something to send, and no memory is left behind.
/// </summary>
internal sealed class OutboxScenario : Scenario
{
    /// <summary>Blocks are large, so that all worlds share a pool. What a world took it gives back.</summary>
    private readonly BlockPool _pool = new();

    public override World Make() => new OutboxWorld(_pool);

    private sealed class OutboxWorld : World
    {
        private const int Runs = 3;
        private readonly BlockPool _pool;
        private readonly OutboxBench _bench = new();
        private readonly Outbox _outbox;
        private readonly OutputNotifier _notifier;
        private readonly Parker _outputs = new(), _sender = new();
        private readonly byte[][] _runs = DedupTableScenario.Runs(10, 20, 30);
        private readonly int _outstandingBefore;
        private readonly List<RunHeader> _sent = [];

        /// <summary>The number of the last call that the peer has.</summary>
        private ulong _received;

        public OutboxWorld(BlockPool pool)
        {
            _pool = pool;
            _outstandingBefore = pool.Outstanding;
            _outbox = _bench.Outbox;
            _notifier = new OutputNotifier(_ => _sender.Wake());
            new Thread(Tell) { Name = "outputs", IsBackground = true }.Start();
            Threads.Add(("emit", Emit));
            Threads.Add(("send", Send));
            Threads.Add(("trim", Trim));
        }

        private void Emit()
        {
            BlockPool.Block block = _pool.Take();
            int at = 0;
            foreach (byte[] run in _runs)
            {
                run.CopyTo(block.Bytes.AsSpan(at + FrameHeader.Bytes));
                RunView view = RunView.Read(block.Bytes.AsSpan(at + FrameHeader.Bytes, run.Length));
                Assert.True(_outbox.Append(block, at, view, run.Length));
                at += FrameHeader.Bytes + run.Length;
                _notifier.Add([_outbox]);
                _outputs.Wake();
            }
            block.Release();
        }

        private void Tell()
        {
            while (true)
            {
                _outputs.Park(() => _notifier.HasAny, Timeout.InfiniteTimeSpan);
                _notifier.TellAll();
            }
        }

        private void Send()
        {
            var first = new SendCursor(_outbox, seed: 7, messageBytesMax: 1 << 20);
            first.Resume(0, 0);
            SendOver(first, until: 1);
            first.End();
            // The peer has some of it; what the connection held is sent again from there.
            var second = new SendCursor(_outbox, seed: 7, messageBytesMax: 1 << 20);
            second.Resume(Volatile.Read(ref _received), 0);
            SendOver(second, until: Runs);
            second.End();
        }

        private void SendOver(SendCursor cursor, ulong until)
        {
            while (_received < until)
            {
                if (!cursor.TryTake(out ReadOnlyMemory<byte> bytes))
                {
                    _sender.Park(() => _outbox.HasUnsent, Timeout.InfiniteTimeSpan);
                    continue;
                }
                foreach ((_, byte[] payload) in Made.FramesOf(bytes.Span, 7, checkPayload: true)) _sent.Add(RunView.Read(payload).Header);
                cursor.Taken();
                Volatile.Write(ref _received, _sent[^1].Last);
            }
        }

        private void Trim()
        {
            for (ulong trimmed = 0; trimmed < Runs;)
            {
                ulong received = Volatile.Read(ref _received);
                if (received == trimmed)
                {
                    Thread.Yield();
                    continue;
                }
                _outbox.Acknowledge(received);
                _outbox.Trim(trimmed = received);
            }
        }

        public override void Check()
        {
            Assert.Equal([1ul, 2ul, 3ul], _sent.Select(static run => run.First));
            Assert.Equal(_outbox.Known, _outbox.Trimmed);
            Assert.Equal(_outstandingBefore, _pool.Outstanding);
        }

        public override void Dispose()
        {
            _bench.Dispose();
            base.Dispose();
        }
    }
}
