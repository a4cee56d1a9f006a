namespace Ambrosia.Protocol.Tests;

/// <summary>Damages bytes the ways that find decoders' mistakes: turned bits, extreme bytes, copies, cuts, insertions.</summary>
internal static class Mutation
{
    public static byte[] Of(byte[] bytes, Random random)
    {
        var mutant = new List<byte>(bytes);
        for (int i = random.Next(1, 4); i > 0; i--) Once(mutant, random);
        return [.. mutant];
    }

    private static void Once(List<byte> bytes, Random random)
    {
        byte[] extremes = [0x00, 0x01, 0x7F, 0x80, 0x81, 0xFE, 0xFF];
        int at = random.Next(bytes.Count + 1);
        bool isInside = at < bytes.Count;
        switch (random.Next(6))
        {
            case 0 when isInside: bytes[at] ^= (byte)(1 << random.Next(8)); break;
            case 1 when isInside: bytes[at] = extremes[random.Next(extremes.Length)]; break;
            case 2 when isInside: bytes[at] = (byte)random.Next(256); break;
            case 3: bytes.RemoveRange(at, Math.Min(random.Next(9), bytes.Count - at)); break;
            case 4: bytes.InsertRange(at, Enumerable.Repeat(extremes[random.Next(extremes.Length)], random.Next(1, 12))); break;
            default: bytes.InsertRange(at, bytes.GetRange(0, at)[..Math.Min(at, 64)]); break;
        }
    }
}
