using Ambrosia.TestKit;
using CRA;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Two real ends of one connection and the bytes between them; each end learns by itself that it is over.</summary>
internal sealed class Connection
{
    private readonly List<byte> toAcceptor = [], toDialler = [];
    private bool diallerOver, acceptorOver;

    public Connection(Side from, Side to, uint seed)
    {
        (From, To) = (from, to);
        Dialler = from.Dial(to.Id, seed);
        Acceptor = to.Accept(seed);
        Dialler.Close = Acceptor.Close = Break;
    }

    public Side From { get; }

    public Side To { get; }

    public PeerLink Dialler { get; }

    public PeerLink Acceptor { get; }

    public string? Why { get; private set; }

    public bool IsOver => diallerOver && acceptorOver;

    public bool IsOpen => Why is null && Dialler.IsOpen && Acceptor.IsOpen;

    public bool IsQuiet => toAcceptor.Count == 0 && toDialler.Count == 0;

    public void Break(string why) => Why ??= why;

    public bool Send(bool dialler)
    {
        PeerLink end = dialler ? Dialler : Acceptor;
        if (Why is not null || !end.TryTake(out ReadOnlyMemory<byte> bytes)) return false;
        (dialler ? toAcceptor : toDialler).AddRange(bytes.Span);
        end.Taken(bytes.Length);
        return true;
    }

    /// <summary>The end takes what has arrived, or only the first <paramref name="bytesMax"/> of it.</summary>
    public bool Receive(bool dialler, int bytesMax = int.MaxValue)
    {
        List<byte> from = dialler ? toDialler : toAcceptor;
        if (Why is not null || from.Count == 0) return false;
        byte[] bytes = [.. from.Take(bytesMax)];
        FeedAnswer answer = (dialler ? Dialler : Acceptor).Feed(bytes, drained: bytes.Length == from.Count, out int consumed);
        from.RemoveRange(0, consumed);
        if (answer == FeedAnswer.Close) Break("an end closed");
        return consumed > 0 || answer == FeedAnswer.Close;
    }

    public void End(bool dialler)
    {
        ref bool over = ref dialler ? ref diallerOver : ref acceptorOver;
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
        if (dialler ? diallerOver : acceptorOver) return;
        if (Why is not null) { if (random.Chance(30)) End(dialler); }
        else if (random.Chance(50)) Send(dialler);
        else Receive(dialler, random.Chance(50) ? int.MaxValue : random.Next(1, 100));
    }
}
