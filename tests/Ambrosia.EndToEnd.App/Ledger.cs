using System.Diagnostics;

namespace Ambrosia.EndToEnd.App;

/// <summary>The receiving side.</summary>
public sealed partial class Ledger : Immortal<ILedgerProxy>, ILedger
{
    /// <summary>Calls whose handler has thrown, in their order.</summary>
    private readonly List<ulong> _thrown = [];
    /// <summary>Part of the state, and a planted bug where replicas are given different ones: it follows from no input.</summary>
    private readonly ulong _mood = Settings.Number("MOOD", 0);
    private ulong _count, _asked, _hash;

    internal ulong Mood => _mood;

    internal ulong Count => _count;

    public void Put(ulong number, ReadOnlyMemory<byte> filling)
    {
        if (number == Settings.Forget) return;
        if (number == Settings.DieAt) Process.GetCurrentProcess().Kill();
        if (_thrown.Contains(number))
        {
            Console.WriteLine($"tried again {number}");
            return;
        }
        _hash = OrderHash.Mix(_hash, number, filling.Span);
        if (++_count % 1000 == 0 && Settings.Lag > TimeSpan.Zero) Thread.Sleep(Settings.Lag);
        if (!Settings.Throws(number)) return;
        _thrown.Add(number);
        throw new InvalidOperationException($"call {number} is poison");
    }

    public ulong Next() => ++_asked;

    public string Summary() => $"{_count} {_hash:x16} {_asked}";

    public string Dump() =>
        $$"""{"_thrown":[{{string.Join(',', _thrown)}}],"_mood":{{_mood}},"_count":{{_count}},"_asked":{{_asked}},"_hash":{{_hash}}}""";
}
