using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The sending side: bursts of forks and a chain of awaited calls, driven by calls to itself; at the end it compares with the ledger and
/// says so on a line of its own. CALLS, BURST, ASKS, FILL (bytes) and PEER set the size; they are read once, at the first start.
/// </summary>
public sealed partial class Source : Immortal<ISourceProxy>, ISource
{
    private readonly ulong calls, burst, asks;
    private readonly byte[] filling;
    private readonly ILedgerProxy ledger;
    private ulong made, answers, wrong, hash, pokes;

    public Source()
    {
        calls = Setting("CALLS", 1000);
        burst = Setting("BURST", 100);
        asks = Setting("ASKS", 100);
        filling = new byte[Setting("FILL", 0)];
        ledger = GetProxy<ILedger>(Environment.GetEnvironmentVariable("PEER") ?? "ledger");
    }

    private static ulong Setting(string name, ulong otherwise) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } text ? ulong.Parse(text, CultureInfo.InvariantCulture) : otherwise;

    protected override void OnFirstStart()
    {
        thisProxy.BurstFork();
        thisProxy.AskFork();
        thisProxy.FinishFork();
    }

    protected override void BecomingPrimary()
    {
        if (Environment.GetEnvironmentVariable("POKES") is not { Length: > 0 } text) return;
        new Thread(() => Poking(int.Parse(text, CultureInfo.InvariantCulture))) { IsBackground = true }.Start();
    }

    private void Poking(int number)
    {
        for (int i = 0; i < number; i++) thisProxy.PokeFork(i);
    }

    public void Poke(int number) => pokes++;

    public void Burst()
    {
        for (ulong i = 0; i < burst && made < calls; i++)
        {
            made++;
            hash = OrderHash.Mix(hash, made, filling);
            ledger.PutFork(made, filling);
        }
        if (made < calls) thisProxy.BurstFork();
    }

    public async Call Ask()
    {
        while (answers < asks)
        {
            ulong answer = await ledger.NextAsync();
            if (answer != ++answers) wrong++;
        }
    }

    public async Call Finish()
    {
        string expected;
        string found;
        do
        {
            found = await ledger.SummaryAsync();
            expected = $"{calls} {hash:x16} {asks}";
        }
        while (made < calls || answers < asks);
        found = await ledger.SummaryAsync();
        expected = $"{calls} {hash:x16} {asks}";
        Console.WriteLine($"verdict {(found == expected && wrong == 0 ? "equal" : "different")}: expected {expected}, found {found}, wrong {wrong}, pokes {pokes}");
    }
}
