using System.Globalization;

namespace Ambrosia.Log;

/// <summary>Numbers in file names (log-format L1.1): decimal, without leading zeros, so that a number has one spelling.</summary>
internal static class FileNumber
{
    public static bool TryParse(ReadOnlySpan<char> text, out ulong value)
    {
        value = 0;
        if (text.Length == 0 || (text[0] == '0' && text.Length > 1)) return false;
        return ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);
    }
}
