namespace Ambrosia.Images.Masking;

/// <summary>
/// Knows with which three bytes texts begin and how long those are, so that most places of a content are passed at once. One thread.
/// </summary>
internal sealed class TextIndex
{
    /// <summary>Shorter texts are not taken.</summary>
    internal const int BytesMin = 3;

    private const int PrefixBits = 24;

    /// <summary>The lengths of those that begin with these three bytes, the longest first.</summary>
    private readonly Dictionary<int, List<int>> _lengths = [];

    /// <summary>A bit for each three bytes with which one begins.</summary>
    private readonly ulong[] _begins = new ulong[1 << (PrefixBits - 6)];

    internal bool IsEmpty => _lengths.Count == 0;

    internal void Add(ReadOnlySpan<byte> content)
    {
        int prefix = PrefixOf(content);
        _begins[prefix >> 6] |= 1UL << (prefix & 63);
        if (!_lengths.TryGetValue(prefix, out List<int>? lengths)) _lengths.Add(prefix, lengths = []);
        int length = content.Length, at = lengths.FindIndex(each => each <= length);
        if (at < 0) lengths.Add(length);
        else if (lengths[at] != length) lengths.Insert(at, length);
    }

    /// <summary>Returns the lengths of those that may stand at the beginning of a content; null: none does.</summary>
    internal List<int>? LengthsAt(ReadOnlySpan<byte> content)
    {
        if (content.Length < BytesMin) return null;
        int prefix = PrefixOf(content);
        return (_begins[prefix >> 6] & (1UL << (prefix & 63))) == 0 ? null : _lengths[prefix];
    }

    private static int PrefixOf(ReadOnlySpan<byte> content) => content[0] | content[1] << 8 | content[2] << 16;
}
