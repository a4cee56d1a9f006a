namespace Ambrosia.EndToEnd.App;

/// <summary>
/// Sends CALLS calls of FILL bytes to PEER, and to SECOND if there is one, without waiting; then asks each what has come there.
/// </summary>
public sealed partial class Flooder : Immortal<IFlooderProxy>, IFlooder
{
    private readonly ulong calls, burst;
    private readonly byte[] filling;
    private readonly IFlooderProxy peer, second;
    private readonly bool hasSecond;
    private ulong made, sentHash, count, hash;

    public Flooder()
    {
        calls = Settings.Number("CALLS", 1000);
        burst = Settings.Number("BURST", 100);
        filling = new byte[Settings.Number("FILL", 0)];
        peer = GetProxy<IFlooder>(Settings.Peer);
        hasSecond = Settings.Second is not null;
        second = GetProxy<IFlooder>(Settings.Second ?? Settings.Peer);
    }

    protected override void OnFirstStart() => thisProxy.FloodFork();

    public void Put(ulong number, ReadOnlyMemory<byte> filling)
    {
        hash = OrderHash.Mix(hash, number, filling.Span);
        if (++count % 1000 == 0 && Settings.Lag > TimeSpan.Zero) Thread.Sleep(Settings.Lag);
    }

    public string Summary() => $"{count} {hash:x16}";

    public void Flood()
    {
        for (ulong i = 0; i < burst && made < calls; i++)
        {
            sentHash = OrderHash.Mix(sentHash, ++made, filling);
            peer.PutFork(made, filling);
            if (hasSecond) second.PutFork(made, filling);
        }
        if (made < calls) thisProxy.FloodFork();
        else
        {
            thisProxy.FinishFork();
            if (hasSecond) thisProxy.FinishSecondFork();
        }
    }

    public async Call Finish() => Judge("verdict", await peer.SummaryAsync());

    public async Call FinishSecond() => Judge("second verdict", await second.SummaryAsync());

    private void Judge(string verdict, string found)
    {
        string expected = $"{calls} {sentHash:x16}";
        Console.WriteLine($"{verdict} {(found == expected ? "equal" : "different")}: expected {expected}, found {found}");
    }
}
