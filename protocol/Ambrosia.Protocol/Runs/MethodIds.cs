using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Runs;

/// <summary>Computes method ids (protocol P4.5). Ids that the developer gives are below 2³¹, computed ones above.</summary>
public static class MethodIds
{
    private const uint FnvOffset = 0x811C9DC5, FnvPrime = 0x01000193, ComputedBit = 0x80000000;

    /// <summary>
    /// Returns the id of a method to which the developer gave none: FNV-1a of <c>Interface.Method</c> (simple names, UTF-8) with the top
    /// bit set.
    /// </summary>
    public static uint Of(string interfaceName, string methodName)
    {
        uint hash = FnvOffset;
        foreach (byte b in Utf8Text.Identity($"{interfaceName}.{methodName}")) hash = (hash ^ b) * FnvPrime;
        return hash | ComputedBit;
    }
}
