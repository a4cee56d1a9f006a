using Ambrosia.Coordinator.Links;
using Ambrosia.TestKit;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Two real ends of one connection and the bytes between them; each end learns by itself that it is over.</summary>
internal sealed class Connection
{
    private readonly List<byte> _toAcceptor = [], _toDialler = [];
    private bool _diallerOver, _acceptorOver;

    public Connection(Side from, Side to, uint seed)
    {
        (From, To) = (from, to);
        Dialler = from.Dial(to.Id, seed, Break);
        Acceptor = to.Accept(seed, Break, wake: () => AcceptorWakes++);
    }

    public Side From { get; }

    public Side To { get; }

    public PeerLink Dialler { get; }

    public PeerLink Acceptor { get; }

    public string? Why { get; private set; }

    /// <summary>How often the acceptor's sender was woken.</summary>
    public int AcceptorWakes { get; set; }

    public bool IsOver => _diallerOver && _acceptorOver;

    public bool IsOpen => Why is null && Dialler.IsOpen && Acceptor.IsOpen;

    public bool IsQuiet => _toAcceptor.Count == 0 && _toDialler.Count == 0;

    public void Break(string why) => Why ??= why;

    public bool Send(bool dialler)
    {
        PeerLink end = dialler ? Dialler : Acceptor;
        if (Why is not null || !end.TryTake(out ReadOnlyMemory<byte> bytes)) return false;
        (dialler ? _toAcceptor : _toDialler).AddRange(bytes.Span);
        end.Taken(bytes.Length);
        return true;
    }

    /// <summary>The end takes what has arrived, or only the first <paramref name="bytesMax"/> of it.</summary>
    public bool Receive(bool dialler, int bytesMax = int.MaxValue)
    {
        List<byte> from = dialler ? _toDialler : _toAcceptor;
        if (Why is not null || from.Count == 0) return false;
        byte[] bytes = [.. from.Take(bytesMax)];
        FeedResult answer = (dialler ? Dialler : Acceptor).Feed(bytes, drained: bytes.Length == from.Count, out int consumed);
        from.RemoveRange(0, consumed);
        if (answer == FeedResult.Close) Break("an end closed");
        return consumed > 0 || answer == FeedResult.Close;
    }

    public void End(bool dialler)
    {
        ref bool over = ref dialler ? ref _diallerOver : ref _acceptorOver;
        if (over) return;
        over = true;
        (dialler ? Dialler : Acceptor).Ended(Why ?? "ended");
    }

    public void End()
    {
        Break("ended");
        End(dialler: true);
        End(dialler: false);
    }

    public void Step(SimulatedRandom random)
    {
        bool dialler = random.Chance(50);
        if (dialler ? _diallerOver : _acceptorOver) return;
        if (Why is not null) { if (random.Chance(30)) End(dialler); }
        else if (random.Chance(50)) Send(dialler);
        else Receive(dialler, random.Chance(50) ? int.MaxValue : random.Next(1, 100));
    }
}
