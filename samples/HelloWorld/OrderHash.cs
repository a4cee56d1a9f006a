using System.Numerics;

namespace HelloWorld;

/// <summary>Hashes numbers in their order. A number that is lost, doubled or swapped with another changes the hash.</summary>
internal static class OrderHash
{
    public static ulong Add(ulong hash, long number) => (BitOperations.RotateLeft(hash, 23) ^ (ulong)number) * 0x9E37_79B9_7F4A_7C15;

    /// <summary>Returns the hash of 1, 2, 3, … <paramref name="last"/>.</summary>
    public static ulong OfAllUpTo(long last)
    {
        ulong hash = 0;
        for (long number = 1; number <= last; number++) hash = Add(hash, number);
        return hash;
    }
}
