using Ambrosia.Outbound;
using Ambrosia.Pumps;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// An app's thread fills chunks and publishes them, and wakes or lets linger the sender's thread, which takes what is published. All of it
/// goes out in order, and the sender does not sleep over any of it.
/// </summary>
internal sealed class OutboundScenario : Scenario
{
    /// <summary>A lingering sender wakes by itself when time passes.</summary>
    public override Timeouts Timeouts => Timeouts.WhenQuiet;

    public override World Make() => new OutboundWorld();

    private sealed class OutboundWorld : World
    {
        private const int ChunkBytes = 4, Bytes = 10;
        private readonly OutboundChunks _chunks = new(ChunkBytes, sparesMax: 2);
        private readonly SenderWake _wake = new();
        private readonly List<byte> _taken = [];
        private int _idle;

        public OutboundWorld()
        {
            Threads.Add(("fill", Fill));
            Threads.Add(("send", Send));
        }

        private void Fill()
        {
            int end = 0;
            for (byte i = 0; i < Bytes; i++)
            {
                if (end == ChunkBytes) _chunks.Append(ChunkBytes, ref end);
                _chunks.Tail.Bytes[end++] = i;
                _chunks.Publish(end);
                if (i == Bytes - 1) _wake.Stop();
                else if (i % 3 == 2) _wake.Wake();
                else if (i % 3 == 1) _wake.Linger();
            }
        }

        private void Send()
        {
            while (true)
            {
                bool isIdle = _wake.Await(), isLast = _wake.IsStopping;
                while (_chunks.TryTake(out ReadOnlyMemory<byte> bytes))
                {
                    _taken.AddRange(bytes.Span);
                    _chunks.Taken(bytes.Length);
                    if (isIdle) _idle++; // time had to pass before somebody looked, although the sender was woken or asked to linger
                    isIdle = false;
                }
                if (isLast) return;
            }
        }

        public override void Check()
        {
            Assert.Equal(Enumerable.Range(0, Bytes), _taken.Select(static each => (int)each));
            Assert.Equal(0, _chunks.Backlog);
            Assert.Equal(0, _idle);
        }
    }
}
