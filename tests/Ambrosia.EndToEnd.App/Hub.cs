namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The middle of many peers: answers call n of each with n, if it is the next one of that peer and else with 0, and tells the ledgers named
/// SLOW and AWAY of every call with FILL bytes.
/// </summary>
public sealed partial class Hub : Immortal<IHubProxy>, IHub
{
    private const int PeersMax = 1024;

    private readonly ulong[] _last = new ulong[PeersMax];
    private readonly byte[] _filling;
    private readonly ILedgerProxy _slow, _away;
    private ulong _all;

    public Hub()
    {
        _filling = new byte[Settings.Number("FILL", 0)];
        _slow = GetProxy<ILedger>("slow");
        _away = GetProxy<ILedger>("away");
    }

    public ulong Count(int peer, ulong number)
    {
        if (number != _last[peer] + 1) return 0;
        _last[peer] = number;
        if (++_all == Settings.Forget) return number;
        _slow.PutFork(_all, _filling);
        _away.PutFork(_all, _filling);
        return number;
    }
}
