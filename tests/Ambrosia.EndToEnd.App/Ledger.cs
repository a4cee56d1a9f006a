namespace Ambrosia.EndToEnd.App;

/// <summary>The receiving side. LAG_MS makes each thousandth call slow: an app that lags behind its log.</summary>
public sealed partial class Ledger : Immortal<ILedgerProxy>, ILedger
{
    private ulong count, asked, hash;

    public void Put(ulong number, ReadOnlyMemory<byte> filling)
    {
        hash = OrderHash.Mix(hash, number, filling.Span);
        if (++count % 1000 == 0 && Lag > TimeSpan.Zero) Thread.Sleep(Lag);
    }

    public ulong Next() => ++asked;

    public string Summary() => $"{count} {hash:x16} {asked}";

    private static TimeSpan Lag => TimeSpan.FromMilliseconds(int.Parse(Environment.GetEnvironmentVariable("LAG_MS") ?? "0"));
}
