using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using CRA.Links;

namespace Ambrosia.Simulation;

/// <summary>
/// One connection between two coordinators: the real traffic at both ends, bytes between them. It may break at any moment.
/// </summary>
internal sealed class SimulatedLink
{
    private const int WireBytesMax = 256 * 1024;

    /// <summary>An end that hears nothing for so long closes (P6.9); its pump does that, which is not simulated.</summary>
    public const int DeadAfterMs = 5000;

    private readonly World _world;
    private readonly End _dialler, _acceptor;

    public SimulatedLink(World world, SimulatedReplica from, SimulatedReplica to, uint seed)
    {
        _world = world;
        From = from;
        To = to;
        PeerLink? a = from.Coordinator!.Links.New(to.Id, new LinkTransport(seed, to.Id.Name) { Close = Break }),
            b = to.Coordinator!.Links.New(null, new LinkTransport(seed, from.Id.Name) { Close = Break });
        Wire there = new(), back = new();
        _dialler = new End(world, from, to.Id, seed, a, back, there);
        _acceptor = new End(world, to, from.Id, seed, b, there, back);
        if (a is null || b is null) Break("not primary");
    }

    public SimulatedReplica From { get; }

    public SimulatedReplica To { get; }

    public bool HasEnded => _dialler.IsOver && _acceptor.IsOver;

    public bool IsOpen => _dialler.Traffic is { IsOpen: true } && _acceptor.Traffic is { IsOpen: true } && _why is null;

    public bool IsQuiet => _why is null && _dialler.IsQuiet && _acceptor.IsQuiet;

    private string? _why;
    private TimeSpan _delayedUntil, _deadUntil;

    /// <summary>The end to which nothing comes any more; null: none.</summary>
    private End? _deaf;

    /// <summary>The connection is cut; each end learns of it at a step of its own.</summary>
    public void Break(string reason) => _why ??= reason;

    /// <summary>Until then no byte moves, and nothing is lost.</summary>
    public void Delay(TimeSpan until) => _delayedUntil = until;

    /// <summary>From now on nothing reaches one end, which closes when it has waited long enough.</summary>
    public void KillDirection(bool toDialler, TimeSpan closesAt) => (_deaf, _deadUntil) = (toDialler ? _dialler : _acceptor, closesAt);

    /// <summary>A process is gone: its end will never be asked again.</summary>
    public void Lost(SimulatedReplica dead)
    {
        Break("the process died");
        if (dead == From) _dialler.Forget();
        if (dead == To) _acceptor.Forget();
    }

    public void Step(Random random)
    {
        End end = random.Next(2) == 0 ? _dialler : _acceptor;
        if (end.IsOver || (end == _dialler ? From : To).IsPaused) return;
        if (!_world.IsCalm && _world.Time.Elapsed < _delayedUntil) return;
        if (_deaf is not null && (_world.IsCalm || _world.Time.Elapsed >= _deadUntil)) Break("nothing arrived (P6.9)");
        _world.Running = end == _dialler ? From : To;
        if (_why is not null && (random.Next(3) == 0 || end.Traffic is null)) end.Finish(_why);
        else if (random.Next(2) == 0) end.Send();
        else if (end != _deaf && end.Receive(random)) Break("the other side closed");
    }

    private sealed class End(
        World world, SimulatedReplica self, InstanceId other, uint seed, PeerLink? traffic, Wire incoming, Wire outgoing)
    {
        private readonly List<byte> _received = [];
        private readonly int _life = world.Oracles.LifeOf(other);

        public PeerLink? Traffic => traffic;

        public bool IsOver { get; private set; } = traffic is null;

        public bool IsQuiet => IsOver || (incoming.Count == 0 && _received.Count == 0);

        public void Forget() => IsOver = true;

        public void Finish(string why)
        {
            IsOver = true;
            traffic!.Ended(why);
        }

        public void Send()
        {
            if (outgoing.Count > WireBytesMax || !traffic!.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            world.Oracles.OnLink(self, other, _life, bytes.Span, seed);
            outgoing.Send(world.Faults.RaisedAcks ? RaisedAcks.Of(bytes.Span, seed, world.Oracles.Sent(other, self.Id)) : bytes.Span);
            traffic.Taken(bytes.Length);
        }

        /// <summary>True: this end wants to close.</summary>
        public bool Receive(Random random)
        {
            if (incoming.Count > 0) _received.AddRange(incoming.Take(random.Next(1, incoming.Count + 1)));
            if (_received.Count == 0) return false;
            FeedResult answer = traffic!.Feed(_received.ToArray(), drained: incoming.Count == 0, out int consumed);
            _received.RemoveRange(0, consumed);
            return answer == FeedResult.Close;
        }
    }
}
