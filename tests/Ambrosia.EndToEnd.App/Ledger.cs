namespace Ambrosia.EndToEnd.App;

/// <summary>The receiving side.</summary>
public sealed partial class Ledger : Immortal<ILedgerProxy>, ILedger
{
    /// <summary>Calls whose handler has thrown, in their order.</summary>
    private readonly List<ulong> thrown = [];
    /// <summary>Part of the state, and a planted bug where replicas are given different ones: it follows from no input.</summary>
    private readonly ulong mood = Settings.Number("MOOD", 0);
    private ulong count, asked, hash;

    internal ulong Mood => mood;

    public void Put(ulong number, ReadOnlyMemory<byte> filling)
    {
        if (number == Settings.Forget) return;
        if (thrown.Contains(number))
        {
            Console.WriteLine($"tried again {number}");
            return;
        }
        hash = OrderHash.Mix(hash, number, filling.Span);
        if (++count % 1000 == 0 && Settings.Lag > TimeSpan.Zero) Thread.Sleep(Settings.Lag);
        if (!Settings.Throws(number)) return;
        thrown.Add(number);
        throw new InvalidOperationException($"call {number} is poison");
    }

    public ulong Next() => ++asked;

    public string Summary() => $"{count} {hash:x16} {asked}";
}
