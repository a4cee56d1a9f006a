using System.Text;

namespace Ambrosia.Generators.Serialization;

/// <summary>Computes FNV-1a hashes of texts as UTF-8. Method ids (docs/protocol.md P4.5) and contract hashes are made of them.</summary>
internal static class FnvHash
{
    internal static uint Hash32(string text)
    {
        uint hash = 0x811C9DC5;
        foreach (byte b in Encoding.UTF8.GetBytes(text)) hash = unchecked((hash ^ b) * 0x01000193);
        return hash;
    }

    internal static ulong Hash64(string text)
    {
        ulong hash = 0xCBF29CE484222325;
        foreach (byte b in Encoding.UTF8.GetBytes(text)) hash = unchecked((hash ^ b) * 0x00000100000001B3);
        return hash;
    }
}
