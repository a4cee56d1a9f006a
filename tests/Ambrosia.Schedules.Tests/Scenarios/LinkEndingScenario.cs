using CRA.Links;
using CRA.Tests;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// One thread closes a link, another finishes it with a message still queued, and a third sends inline. It ends once, its socket is given
/// back once, and nobody asks the traffic for anything afterwards.
/// </summary>
internal sealed class LinkEndingScenario : Scenario
{
    public override World Make() => new LinkEndingWorld();

    private sealed class LinkEndingWorld : World
    {
        private readonly SocketPair _sockets = new();
        private readonly LinkConnection _link;
        private readonly QueueTraffic _traffic = new();
        private int _released;

        public LinkEndingWorld()
        {
            _link = OutPumpScenario.LinkOver(_sockets, () => _released++);
            _link.Run(_traffic, "peer");
            Threads.Add(("close", () => _link.Close("closed")));
            Threads.Add(("finish", () => _link.CloseAfterSending("finished")));
            Threads.Add(("nudge", () =>
            {
                _traffic.Queue(1, 2, 3);
                _link.Nudge();
            }));
        }

        public override void Check()
        {
            Assert.Null(_traffic.Fault);
            Assert.Equal((1, 1), (_released, _traffic.EndedCount));
            Assert.Contains(_traffic.Why, (string[])["closed", "finished", "the other side closed the connection"]);
        }

        public override void Dispose()
        {
            _sockets.Dispose();
            base.Dispose();
        }
    }
}
