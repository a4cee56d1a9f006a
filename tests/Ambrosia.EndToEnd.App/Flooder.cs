namespace Ambrosia.EndToEnd.App;

/// <summary>
/// Sends CALLS calls of FILL bytes to PEER, and to SECOND if there is one, without waiting; then asks each what has come there.
/// </summary>
public sealed partial class Flooder : Immortal<IFlooderProxy>, IFlooder
{
    private readonly ulong _calls, _burst;
    private readonly byte[] _filling;
    private readonly IFlooderProxy _peer, _second;
    private readonly bool _hasSecond;
    private ulong _made, _sentHash, _count, _hash;

    public Flooder()
    {
        _calls = Settings.Number("CALLS", 1000);
        _burst = Settings.Number("BURST", 100);
        _filling = new byte[Settings.Number("FILL", 0)];
        _peer = GetProxy<IFlooder>(Settings.Peer);
        _hasSecond = Settings.Second is not null;
        _second = GetProxy<IFlooder>(Settings.Second ?? Settings.Peer);
    }

    protected override void OnFirstStart() => thisProxy.FloodFork();

    public void Put(ulong number, ReadOnlyMemory<byte> filling)
    {
        _hash = OrderHash.Mix(_hash, number, filling.Span);
        if (++_count % 1000 == 0 && Settings.Lag > TimeSpan.Zero) Thread.Sleep(Settings.Lag);
    }

    public string Summary() => $"{_count} {_hash:x16}";

    public void Flood()
    {
        for (ulong i = 0; i < _burst && _made < _calls; i++)
        {
            _sentHash = OrderHash.Mix(_sentHash, ++_made, _filling);
            _peer.PutFork(_made, _filling);
            if (_hasSecond) _second.PutFork(_made, _filling);
        }
        if (_made < _calls) thisProxy.FloodFork();
        else
        {
            thisProxy.FinishFork();
            if (_hasSecond) thisProxy.FinishSecondFork();
        }
    }

    public async Call Finish() => Judge("verdict", await _peer.SummaryAsync());

    public async Call FinishSecond() => Judge("second verdict", await _second.SummaryAsync());

    private void Judge(string verdict, string found)
    {
        string expected = $"{_calls} {_sentHash:x16}";
        Console.WriteLine($"{verdict} {(found == expected ? "equal" : "different")}: expected {expected}, found {found}");
    }
}
