namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The sending side: bursts of forks, behind each an awaited call, driven by calls to itself so that between two bursts nothing is
/// suspended. A ledger that was forgotten is begun with anew. At the end it compares with the ledger and says so on a line of its own.
/// CALLS, BURST, FILL (bytes), POKES (impulses to itself), PEER and UNTIL set the run.
/// </summary>
public sealed partial class Source : Immortal<ISourceProxy>, ISource
{
    private readonly ulong calls, burst;
    private readonly byte[] filling;
    private readonly ILedgerProxy ledger;
    private ulong made, answers, wrong, hash, pokes;
    private bool mayStop;

    public Source()
    {
        calls = Settings.Number("CALLS", 1000);
        burst = Settings.Number("BURST", 100);
        filling = new byte[Settings.Number("FILL", 0)];
        mayStop = Settings.Until is null;
        ledger = GetProxy<ILedger>(Settings.Peer);
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

    public void Poke(int number) => pokes++;

    public void Stop() => mayStop = true;

    public async Call GoOn()
    {
        for (ulong i = 0; i < burst && (made < calls || !mayStop); i++)
        {
            made++;
            hash = OrderHash.Mix(hash, made, filling);
            if (Settings.SkipEvery == 0 || made % Settings.SkipEvery != 0) ledger.PutFork(made, filling);
        }
        try
        {
            if (await ledger.NextAsync() != ++answers) wrong++;
        }
        catch (RemoteCallException e) when (e.TypeName == RemoteCallException.PeerForgotten)
        {
            made = hash = answers = 0; // whoever is ledger now knows nothing of what was
        }
        if (made < calls || !mayStop) thisProxy.GoOnFork();
        else thisProxy.FinishFork();
    }

    public async Call Finish()
    {
        string found = await ledger.SummaryAsync();
        string expected = $"{made} {hash:x16} {answers}";
        Console.WriteLine(
            $"verdict {(found == expected && wrong == 0 ? "equal" : "different")}: expected {expected}, found {found}, wrong {wrong}, pokes {pokes}");
    }
}
