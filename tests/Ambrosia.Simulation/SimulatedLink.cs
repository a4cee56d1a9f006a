using Ambrosia.Coordinator;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Simulation;

/// <summary>
/// One connection between two coordinators: the real traffic at both ends, bytes between them. It may break at any moment.
/// </summary>
internal sealed class SimulatedLink
{
    private const int WireBytesMax = 256 * 1024;

    private readonly World world;
    private readonly End dialler, acceptor;

    public SimulatedLink(World world, SimulatedReplica from, SimulatedReplica to, uint seed)
    {
        this.world = world;
        From = from;
        To = to;
        PeerLink? a = from.Coordinator!.NewLink(to.Id, seed, to.Id.Name), b = to.Coordinator!.NewLink(null, seed, from.Id.Name);
        Wire there = new(), back = new();
        dialler = new End(world, from, to.Id, seed, a, back, there);
        acceptor = new End(world, to, from.Id, seed, b, there, back);
        foreach (End end in new[] { dialler, acceptor })
        {
            if (end.Traffic is null) { Break("not primary"); continue; }
            end.Traffic.Close = Break;
        }
    }

    public SimulatedReplica From { get; }

    public SimulatedReplica To { get; }

    public bool HasEnded => dialler.IsOver && acceptor.IsOver;

    public bool IsOpen => dialler.Traffic is { IsOpen: true } && acceptor.Traffic is { IsOpen: true } && why is null;

    public bool IsQuiet => why is null && dialler.IsQuiet && acceptor.IsQuiet;

    private string? why;

    /// <summary>The connection is cut; each end learns of it at a step of its own.</summary>
    public void Break(string reason) => why ??= reason;

    /// <summary>A process is gone: its end will never be asked again.</summary>
    public void Lost(SimulatedReplica dead)
    {
        Break("the process died");
        if (dead == From) dialler.Forget();
        if (dead == To) acceptor.Forget();
    }

    public void Step(Random random)
    {
        End end = random.Next(2) == 0 ? dialler : acceptor;
        if (end.IsOver || (end == dialler ? From : To).IsPaused) return;
        world.Running = end == dialler ? From : To;
        if (why is not null && (random.Next(3) == 0 || end.Traffic is null)) end.Finish(why);
        else if (random.Next(2) == 0) end.Send();
        else if (end.Receive(random)) Break("the other side closed");
    }

    private sealed class End(
        World world, SimulatedReplica self, InstanceId other, uint seed, PeerLink? traffic, Wire incoming, Wire outgoing)
    {
        private readonly List<byte> received = [];
        private readonly int life = world.Oracles.LifeOf(other);

        public PeerLink? Traffic => traffic;

        public bool IsOver { get; private set; } = traffic is null;

        public bool IsQuiet => IsOver || (incoming.Count == 0 && received.Count == 0);

        public void Forget() => IsOver = true;

        public void Finish(string why)
        {
            IsOver = true;
            traffic!.Ended(why);
        }

        public void Send()
        {
            if (outgoing.Count > WireBytesMax || !traffic!.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            world.Oracles.OnLink(self, other, life, bytes.Span, seed);
            outgoing.Send(world.Faults.RaisedAcks ? RaisedAcks.Of(bytes.Span, seed, world.Oracles.Sent(other, self.Id)) : bytes.Span);
            traffic.Taken(bytes.Length);
        }

        /// <summary>True: this end wants to close.</summary>
        public bool Receive(Random random)
        {
            if (incoming.Count > 0) received.AddRange(incoming.Take(random.Next(1, incoming.Count + 1)));
            if (received.Count == 0) return false;
            FeedAnswer answer = traffic!.Feed(received.ToArray(), drained: incoming.Count == 0, out int consumed);
            received.RemoveRange(0, consumed);
            return answer == FeedAnswer.Close;
        }
    }
}
