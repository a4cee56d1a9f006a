using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>Sizes on the command line.</summary>
internal static class Sizes
{
    /// <summary>Bytes of a message.</summary>
    public const int BytesMin = 8, BytesMax = 1 << 24;

    /// <summary>"65536..16" is 65536 and every quarter of it down to 16; "1024,16" is these two. Null: neither.</summary>
    public static IReadOnlyList<int>? TryParseList(string text)
    {
        var sizes = new List<int>();
        if (text.Split("..") is [string from, string to])
        {
            if (!TryParse(from, out long first) || !TryParse(to, out long last) || first < last) return null;
            for (long size = first; size >= last; size /= 4) sizes.Add((int)Math.Min(size, int.MaxValue));
        }
        else
        {
            foreach (string each in text.Split(','))
            {
                if (!TryParse(each, out long size)) return null;
                sizes.Add((int)Math.Min(size, int.MaxValue));
            }
        }
        return sizes.TrueForAll(static size => size is >= BytesMin and <= BytesMax) ? sizes : null;
    }

    /// <summary>A number, with K, M or G.</summary>
    public static bool TryParse(string text, out long bytes)
    {
        bytes = 0;
        if (text.Length == 0) return false;
        int shift = char.ToUpperInvariant(text[^1]) switch { 'K' => 10, 'M' => 20, 'G' => 30, _ => 0 };
        string digits = shift == 0 ? text : text[..^1];
        if (!long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long number) || number is 0
            || number > 1L << 40 >> shift) return false;
        bytes = number << shift;
        return true;
    }
}
