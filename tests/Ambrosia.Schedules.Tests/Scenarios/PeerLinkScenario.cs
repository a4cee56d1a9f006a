using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// A peer sends calls and an impulse over a link, a commit makes them durable, and a newer connection of the peer takes the link's place
/// meanwhile. Whoever connected last is told in the end, by the answer to its hello or by an acknowledgement, of all that is durable; of
/// impulses at once, since somebody may wait for them.
/// </summary>
internal sealed class PeerLinkScenario : Scenario
{
    public override World Make() => new PeerLinkWorld();

    private sealed class PeerLinkWorld : World
    {
        private const uint Seed = 42;
        private readonly Side _a = new("a"), _b = new("b");
        private readonly Parker _committer = new();
        private readonly End _first, _second;
        private volatile bool _asked;
        private int _inside = 2;

        public PeerLinkWorld()
        {
            _first = new End(_b);
            PeerLink dialled = _a.Dial(_b.Id, Seed);
            for (int i = 0; i < 6; i++) Exchange(dialled);
            Assert.True(_first.Link.IsOpen);
            _second = new End(_b);
            PeerLink again = _a.Dial(_b.Id, Seed);
            Assert.True(again.TryTake(out ReadOnlyMemory<byte> hello));
            byte[] newer = hello.ToArray();
            _b.Committing = () =>
            {
                _asked = true;
                _committer.Wake();
            };
            Start("commit", Commit);
            Start("out", () => _first.Run(() => Leave(_first)));
            Start("out again", () => _second.Run(static () => { }));
            Threads.Add(("in", Feed));
            Threads.Add(("in again", () => Greet(newer)));
        }

        private static void Start(string name, ThreadStart body) => new Thread(body) { Name = name, IsBackground = true }.Start();

        private void Exchange(PeerLink dialled)
        {
            if (dialled.TryTake(out ReadOnlyMemory<byte> there))
            {
                _first.Link.Feed(there.Span, drained: true, out _);
                dialled.Taken(there.Length);
            }
            _b.Log.Commit();
            foreach (byte[] back in _first.Send()) dialled.Feed(back, drained: true, out _);
            _a.Log.Commit();
        }

        private void Feed()
        {
            byte[] calls = Made.FirstRun(MessageKind.Fork, [Made.Message(MessageKind.Fork, 1, 20)]);
            byte[] impulse = Made.Run(MessageKind.Impulse, 1, _a.Log.Epoch.Value, [Made.Message(MessageKind.Impulse, 1, 20)]);
            foreach (byte[] run in (byte[][])[calls, impulse])
                if (!_first.IsClosed) _first.Link.Feed(Made.Frame(FrameType.Run, run, Seed, checkPayload: true), drained: true, out _);
            Leave(_first);
        }

        private void Greet(byte[] hello)
        {
            _second.Link.Feed(hello, drained: true, out _);
            _second.AwaitAnswer();
            _second.Link.Feed(Made.Frame(FrameType.Ready, [], Seed, checkPayload: true), drained: true, out _);
        }

        /// <summary>Both threads of the first connection leave it; the last one ends it.</summary>
        private void Leave(End end)
        {
            while (!end.IsClosed) end.AwaitClose();
            if (Interlocked.Decrement(ref _inside) == 0) end.Link.Ended("over");
        }

        private void Commit()
        {
            while (true)
            {
                _committer.Park(() => _asked, Timeout.InfiniteTimeSpan);
                _asked = false;
                var spin = new SpinWait();
                for (CommitStep step; (step = _b.Log.CommitStep()) != CommitStep.Park;)
                    if (step == CommitStep.Spin) spin.SpinOnce();
            }
        }

        public override void Check()
        {
            Assert.Equal(_b.Log.Writer.Tail, _b.Log.Writer.Durable);
            ulong impulses = _second.Impulses;
            _b.Tick(TimeSpan.FromSeconds(1));
            _second.Send();
            InputPosition durable = InputPosition.Of(_b);
            Assert.Equal((durable.Impulses, durable.Calls), (impulses, _second.Calls));
        }

        public override void Dispose()
        {
            _a.Dispose();
            _b.Dispose();
            base.Dispose();
        }

        private readonly record struct InputPosition(ulong Calls, ulong Impulses)
        {
            public static InputPosition Of(Side side)
            {
                Coordinator.Replay.InputPosition durable = side.Dedup.DurableOf(side.Dedup.Find(new InstanceId("a"))!);
                return new InputPosition(durable.Number, durable.Impulses);
            }
        }
    }

    /// <summary>The accepting end of one connection, with its sender, which is woken as that of a real connection is.</summary>
    private sealed class End
    {
        private const uint Seed = 42;
        private readonly Parker _parker = new();
        private readonly ManualResetEventSlim _closing = new(false), _answered = new(false);
        private volatile bool _asked;

        public End(Side of) => Link = of.Accept(Seed, Close, Close, () =>
        {
            _asked = true;
            _parker.Wake();
        });

        public PeerLink Link { get; }

        public bool IsClosed => _closing.IsSet;

        public ulong Calls { get; private set; }

        public ulong Impulses { get; private set; }

        public void AwaitClose() => _closing.Wait();

        /// <summary>Waits until the hello is answered.</summary>
        public void AwaitAnswer() => _answered.Wait();

        private void Close(string why)
        {
            _closing.Set();
            _asked = true;
            _parker.Wake();
        }

        public void Run(Action closed)
        {
            while (!IsClosed)
            {
                Send();
                _parker.Park(() => _asked, Timeout.InfiniteTimeSpan);
                _asked = false;
            }
            closed();
        }

        /// <summary>Sends what there is; returns it by frames.</summary>
        public List<byte[]> Send()
        {
            var sent = new List<byte[]>();
            while (Link.TryTake(out ReadOnlyMemory<byte> bytes))
            {
                foreach ((FrameType type, byte[] payload) in Made.FramesOf(bytes.Span, Seed, checkPayload: true))
                {
                    if (type == FrameType.Hello) Hear(Hello.Read(payload));
                    if (type == FrameType.Ack) (Calls, Impulses) = (Ack.Read(payload).Durable, Ack.Read(payload).Impulses);
                    sent.Add(Made.Frame(type, payload, Seed, checkPayload: true));
                }
                Link.Taken(bytes.Length);
            }
            return sent;
        }

        private void Hear(Hello hello)
        {
            (Calls, Impulses) = (hello.Durable, hello.Impulses);
            _answered.Set();
        }
    }
}
