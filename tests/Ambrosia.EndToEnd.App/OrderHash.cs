namespace Ambrosia.EndToEnd.App;

/// <summary>A hash that tells order: equal at both ends only if the same calls came in the same order.</summary>
public static class OrderHash
{
    public static ulong Mix(ulong hash, ulong number, ReadOnlySpan<byte> filling)
    {
        hash = (hash ^ number) * 0x9E3779B97F4A7C15UL + (hash >> 29);
        foreach (byte b in filling) hash = (hash ^ b) * 0x100000001B3UL;
        return hash;
    }
}
