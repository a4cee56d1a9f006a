using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.Log;

/// <summary>
/// The one word that writers of a page share: end of the reserved bytes (bits 32–62), writers inside (bits 1–31), sealed (bit 0).
/// Every page that is not the open one is sealed, so a compare-and-swap that succeeds on an unsealed word reserved room in the open page,
/// however old the writer's view of it was. On a line of its own, so that writers do not disturb readers of the page's other fields.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = 192)]
internal struct PageState
{
    private const long Sealed = 1, Writer = 2;
    private const int EndShift = 32;

    [FieldOffset(64)]
    private long _word;

    /// <summary>A snapshot of the word.</summary>
    public long Word => Volatile.Read(ref _word);

    public static bool IsSealed(long word) => (word & Sealed) != 0;

    public static int WritersOf(long word) => (int)((word >> 1) & 0x7FFF_FFFF);

    public static int EndOf(long word) => (int)(word >> EndShift);

    /// <summary>Opens an empty page for writers.</summary>
    public void Open() => Volatile.Write(ref _word, (long)PageHeader.Bytes << EndShift);

    /// <summary>A page that takes no writers and holds bytes up to <paramref name="end"/>.</summary>
    public void Close(int end) => Volatile.Write(ref _word, ((long)end << EndShift) | Sealed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReserve(long word, int bytes) =>
        Interlocked.CompareExchange(ref _word, word + ((long)bytes << EndShift) + Writer, word) == word;

    /// <summary>The word after one writer has left.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long Leave() => Interlocked.Add(ref _word, -Writer);

    /// <summary>Shuts writers out; the word at that moment, whose end is final.</summary>
    public long Seal() => Interlocked.Or(ref _word, Sealed) | Sealed;

    /// <summary>
    /// Shuts writers out of the open page, but for the caller, who leaves later; the word at that moment, the caller among its writers.
    /// </summary>
    public long SealInside() => Interlocked.Add(ref _word, Sealed + Writer);

    /// <summary>Shuts writers out if none ever reserved anything.</summary>
    public bool TrySealEmpty()
    {
        const long empty = (long)PageHeader.Bytes << EndShift;
        return Interlocked.CompareExchange(ref _word, empty | Sealed, empty) == empty;
    }
}
