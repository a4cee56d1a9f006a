namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The sending side: bursts of forks, behind each an awaited call, driven by calls to itself so that between two bursts nothing is
/// suspended. A ledger that was forgotten is begun with anew. At the end it compares with the ledger and says so on a line of its own.
/// CALLS, BURST, FILL (bytes), POKES (impulses to itself), PEER and UNTIL set the run.
/// </summary>
public sealed partial class Source : Immortal<ISourceProxy>, ISource
{
    private readonly ulong _calls, _burst;
    private readonly byte[] _filling;
    private readonly ILedgerProxy _ledger;
    private ulong _made, _answers, _wrong, _hash, _pokes;
    private bool _mayStop;

    public Source()
    {
        _calls = Settings.Number("CALLS", 1000);
        _burst = Settings.Number("BURST", 100);
        _filling = new byte[Settings.Number("FILL", 0)];
        _mayStop = Settings.Until is null;
        _ledger = GetProxy<ILedger>(Settings.Peer);
    }

    protected override void OnFirstStart() => thisProxy.GoOnFork();

    protected override void BecomingPrimary() => new Thread(Outside) { IsBackground = true, Name = "outside" }.Start();

    /// <summary>
    /// The world outside: pokes, and says when it is enough. A process that is killed before its word is logged is followed
    /// by one that says it again.
    /// </summary>
    private void Outside()
    {
        try
        {
            for (ulong n = Settings.Number("POKES", 0); n > 0; n--) thisProxy.PokeFork((int)n);
            if (Settings.Until is not { } file) return;
            while (!File.Exists(file)) Thread.Sleep(10);
            thisProxy.StopFork();
        }
        catch (InvalidOperationException)
        {
            // The coordinator is gone, so no impulse is taken any more; the process ends with it.
        }
    }

    public void Poke(int number) => _pokes++;

    public void Stop() => _mayStop = true;

    public async Call GoOn()
    {
        for (ulong i = 0; i < _burst && (_made < _calls || !_mayStop); i++)
        {
            _made++;
            _hash = OrderHash.Mix(_hash, _made, _filling);
            if (IsOneOf(Settings.SkipEvery)) continue;
            _ledger.PutFork(IsOneOf(Settings.MiscountEvery) ? _made + 1 : _made, _filling);
        }
        try
        {
            if (await _ledger.NextAsync() != ++_answers) _wrong++;
        }
        catch (RemoteCallException e) when (e.TypeName == RemoteCallException.PeerForgotten)
        {
            _made = _hash = _answers = 0; // whoever is ledger now knows nothing of what was
        }
        if (Settings.Stray != 0 && _answers == Settings.Stray) thisProxy.FinishFork();
        if (_made < _calls || !_mayStop) thisProxy.GoOnFork();
        else thisProxy.FinishFork();
    }

    /// <summary>The call that is made is one of each so many; 0: none is.</summary>
    private bool IsOneOf(ulong every) => every != 0 && _made % every == 0;

    public async Call Finish()
    {
        string found = await _ledger.SummaryAsync();
        string expected = $"{_made} {_hash:x16} {_answers}";
        Console.WriteLine(
            $"verdict {(found == expected && _wrong == 0 ? "equal" : "different")}: expected {expected}, found {found}, wrong {_wrong}, pokes {_pokes}");
    }
}
