namespace Ambrosia.Protocol.Images;

/// <summary>Knows the numbers and dates of an image that have a fixed width, as packed elements have them (docs/image.md, I3.6).</summary>
public static class PackedNumbers
{
    private static readonly Dictionary<string, int> s_bytesOf = new()
    {
        ["b"] = 1, ["i1"] = 1, ["u1"] = 1, ["i2"] = 2, ["u2"] = 2, ["c"] = 2, ["f2"] = 2, ["i4"] = 4, ["u4"] = 4, ["f4"] = 4, ["dd"] = 4,
        ["i8"] = 8, ["u8"] = 8, ["f8"] = 8, ["ts"] = 8, ["dt"] = 8, ["td"] = 8, ["d"] = 16, ["g"] = 16, ["i16"] = 16, ["u16"] = 16,
    };

    /// <summary>Returns the size in bytes of a packed number; 0 where a place of this slot is none.</summary>
    public static int BytesOf(string slot) => s_bytesOf.GetValueOrDefault(slot);
}
