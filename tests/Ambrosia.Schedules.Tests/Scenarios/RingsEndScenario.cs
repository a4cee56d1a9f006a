using System.Net.Sockets;
using Ambrosia.AppChannel;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// An app sends more than its ring holds to a coordinator that reads a part of it and ends the stream. The sender, which may be waiting for
/// room by then, comes back with an error once time passes.
/// </summary>
internal sealed class RingsEndScenario : Scenario
{
    /// <summary>A sender learns of the end by the bell that it rings now and then.</summary>
    public override Timeouts Timeouts => Timeouts.WhenQuiet;

    public override World Make() => new RingsEndWorld();

    private sealed class RingsEndWorld : World
    {
        private readonly SocketPair _sockets = new();
        private readonly RingStream _coordinator;
        private readonly AwaitedRings _app;
        private bool _hasFailed;

        public RingsEndWorld()
        {
            _coordinator = RingStream.Offer(_sockets.Here, 64 * 1024);
            _app = new AwaitedRings(_sockets.There);
            _coordinator.Send([1]);
            Assert.Equal(1, _app.Receive(new byte[8]));
            Threads.Add(("send", Send));
            Threads.Add(("receive", Receive));
        }

        private void Send()
        {
            try
            {
                _app.Send(new byte[200_000]);
            }
            catch (SocketException)
            {
                _hasFailed = true;
            }
        }

        private void Receive()
        {
            byte[] into = new byte[40_000];
            for (int left = 100_000; left > 0;)
            {
                int count = _coordinator.Receive(into);
                Assert.NotEqual(0, count);
                left -= count;
            }
            _coordinator.End();
        }

        public override void Check() => Assert.True(_hasFailed, "the sender heard nothing of the end");

        public override void Dispose()
        {
            _coordinator.Dispose();
            _app.Dispose();
            _sockets.Dispose();
            base.Dispose();
        }
    }
}
