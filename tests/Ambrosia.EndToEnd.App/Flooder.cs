namespace Ambrosia.EndToEnd.App;

/// <summary>Sends CALLS calls of FILL bytes to PEER without waiting, while PEER does the same; then asks what has come there.</summary>
public sealed partial class Flooder : Immortal<IFlooderProxy>, IFlooder
{
    private readonly ulong calls, burst;
    private readonly byte[] filling;
    private readonly IFlooderProxy peer;
    private ulong made, sentHash, count, hash;

    public Flooder()
    {
        calls = Settings.Number("CALLS", 1000);
        burst = Settings.Number("BURST", 100);
        filling = new byte[Settings.Number("FILL", 0)];
        peer = GetProxy<IFlooder>(Settings.Peer);
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
        }
        if (made < calls) thisProxy.FloodFork();
        else thisProxy.FinishFork();
    }

    public async Call Finish()
    {
        string found = await peer.SummaryAsync();
        string expected = $"{calls} {sentHash:x16}";
        Console.WriteLine($"verdict {(found == expected ? "equal" : "different")}: expected {expected}, found {found}");
    }
}
