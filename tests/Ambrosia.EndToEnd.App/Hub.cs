namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The middle of many peers: answers call n of each with n, if it is the next one of that peer and else with 0, and tells the ledgers named
/// SLOW and AWAY of every call with FILL bytes.
/// </summary>
public sealed partial class Hub : Immortal<IHubProxy>, IHub
{
    private const int PeersMax = 1024;

    private readonly ulong[] last = new ulong[PeersMax];
    private readonly byte[] filling;
    private readonly ILedgerProxy slow, away;
    private ulong all;

    public Hub()
    {
        filling = new byte[Settings.Number("FILL", 0)];
        slow = GetProxy<ILedger>("slow");
        away = GetProxy<ILedger>("away");
    }

    public ulong Count(int peer, ulong number)
    {
        if (number != last[peer] + 1) return 0;
        last[peer] = number;
        if (++all == Settings.Forget) return number;
        slow.PutFork(all, filling);
        away.PutFork(all, filling);
        return number;
    }
}
