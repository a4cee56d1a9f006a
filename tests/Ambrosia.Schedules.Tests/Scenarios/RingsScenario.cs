using Ambrosia.AppChannel;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// A coordinator sends to an app through a ring that is smaller than what it sends, and ends the stream. The app receives all of it, in
/// order, and then the end: neither side sleeps while there is room, or bytes, for it.
/// </summary>
internal sealed class RingsScenario : Scenario
{
    public override World Make() => new RingsWorld();

    private sealed class RingsWorld : World
    {
        public const int Capacity = 64 * 1024;
        private static readonly int[] s_sizes = [3, 90_000, 5];
        private readonly SocketPair _sockets = new();
        private readonly RingStream _coordinator;
        private readonly AwaitedRings _app;
        private int _received, _wrong;

        public RingsWorld()
        {
            _coordinator = RingStream.Offer(_sockets.Here, Capacity);
            _app = new AwaitedRings(_sockets.There);
            _coordinator.Send([1]);
            Assert.Equal(1, _app.Receive(new byte[8]));
            Threads.Add(("send", Send));
            Threads.Add(("receive", Receive));
        }

        private static byte At(int position) => (byte)(position * 31 + (position >> 12) + 1);

        private void Send()
        {
            int at = 0;
            foreach (int size in s_sizes)
            {
                byte[] bytes = new byte[size];
                for (int i = 0; i < size; i++) bytes[i] = At(at++);
                _coordinator.Send(bytes);
            }
            _coordinator.End();
        }

        private void Receive()
        {
            byte[] into = new byte[60_000];
            while (_app.Receive(into) is > 0 and var count)
                for (int i = 0; i < count; i++) _wrong += into[i] == At(_received++) ? 0 : 1;
        }

        public override void Check() => Assert.Equal((s_sizes.Sum(), 0), (_received, _wrong));

        public override void Dispose()
        {
            _coordinator.Dispose();
            _app.Dispose();
            _sockets.Dispose();
            base.Dispose();
        }
    }
}
