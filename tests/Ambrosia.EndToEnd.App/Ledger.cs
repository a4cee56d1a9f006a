namespace Ambrosia.EndToEnd.App;

/// <summary>The receiving side.</summary>
public sealed partial class Ledger : Immortal<ILedgerProxy>, ILedger
{
    private ulong count, asked, hash;

    public void Put(ulong number, ReadOnlyMemory<byte> filling)
    {
        if (number == Settings.Forget) return;
        hash = OrderHash.Mix(hash, number, filling.Span);
        if (++count % 1000 == 0 && Settings.Lag > TimeSpan.Zero) Thread.Sleep(Settings.Lag);
    }

    public ulong Next() => ++asked;

    public string Summary() => $"{count} {hash:x16} {asked}";
}
