using System.Net;
using Ambrosia.TestKit;
using CRA.Links;
using CRA.Streams;
using CRA.Tests;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// Two threads queue for one link, one wakes its out thread and one sends inline, while a peer takes little at a time. Heartbeats are hours
/// away. All arrives, and each message whole.
/// </summary>
internal sealed class OutPumpScenario : Scenario
{
    public override World Make() => new OutPumpWorld();

    /// <summary>Makes a link over one end of a pair.</summary>
    public static LinkConnection LinkOver(SocketPair sockets, Action released)
    {
        sockets.Here.SendBufferSize = 6;
        var settings = new LinkSettings(new byte[32], new FakeTime(), static (Span<byte> into) => into.Clear())
        {
            HeartbeatAfter = TimeSpan.FromHours(1), DeadAfter = TimeSpan.FromHours(1),
        };
        return new LinkConnection(new PlainStream(sockets.Here),
            new LinkHandshakeResult(new IPEndPoint(IPAddress.Loopback, 1), IsDialler: true, settings.Time.GetTimestamp(), 7), settings,
            released);
    }

    private sealed class OutPumpWorld : World
    {
        private const int MessageBytes = 4;
        private readonly SocketPair _sockets = new();
        private readonly LinkConnection _link;
        private readonly QueueTraffic _traffic = new();
        private readonly List<byte> _arrived = [];

        public OutPumpWorld()
        {
            _link = LinkOver(_sockets, static () => { });
            _link.Run(_traffic, "peer");
            Threads.Add(("wake", () => Queue(1, _link.Wake)));
            Threads.Add(("nudge", () => Queue(2, _link.Nudge)));
            Threads.Add(("receive", Receive));
        }

        private void Queue(byte first, Action tell)
        {
            for (byte i = 0; i < 2; i++)
            {
                _traffic.Queue([.. Enumerable.Repeat((byte)(first + 2 * i), MessageBytes)]);
                tell();
            }
        }

        private void Receive()
        {
            byte[] into = new byte[5];
            while (_arrived.Count < 4 * MessageBytes) _arrived.AddRange(into[.._sockets.There.Receive(into)]);
        }

        public override void Check()
        {
            Assert.Null(_traffic.Fault);
            byte[][] messages = [.. _arrived.Chunk(MessageBytes)];
            Assert.All(messages, static message => Assert.Single(message.Distinct()));
            Assert.Equal<byte>([1, 2, 3, 4], [.. messages.Select(static message => message[0]).Order()]);
            Assert.True(Array.FindIndex(messages, static m => m[0] == 1) < Array.FindIndex(messages, static m => m[0] == 3), "in order");
            Assert.Equal(0, _traffic.EndedCount);
        }

        public override void Dispose()
        {
            _sockets.Dispose();
            base.Dispose();
        }
    }
}
