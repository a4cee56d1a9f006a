namespace Ambrosia.Protocol;

/// <summary>
/// Knows the grammar of instance and replica names (protocol P1.5), which keeps every name usable as a file name and in a certificate.
/// </summary>
public static class Names
{
    public const int CharsMax = 63;

    public static bool IsValid(ReadOnlySpan<char> name)
    {
        if (name.Length is 0 or > CharsMax || !char.IsAsciiLetterOrDigit(name[0])) return false;
        foreach (char c in name)
            if (!char.IsAsciiLetterOrDigit(c) && c is not ('_' or '-')) return false;
        return true;
    }
}
