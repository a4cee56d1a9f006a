using System.Security.Cryptography;
using System.Text.Encodings.Web;
using System.Text.Unicode;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Knows every text and byte string that a rule masks, and what stands for it: small letters, digits for digits alone, or bytes, as many
/// as it had. Equal ones stay equal and different ones different, wherever they stand, so a masked one is replaced everywhere: where a
/// place holds it under another name, and from three bytes on also within longer ones. All are learnt before the first is replaced. One
/// thread.
/// </summary>
/// <param name="key">A secret that nobody keeps.</param>
internal sealed class MaskedTexts(byte[] key)
{
    /// <summary>Shorter ones are found only where they are a whole value: within others they stand by chance.</summary>
    internal const int WithinBytesMin = TextIndex.BytesMin;

    /// <summary>Longer ones are kept by their hash, and are found only where they are a whole value.</summary>
    private const int KeptBytesMax = 1024;

    /// <summary>From this length on, chance gives no two texts the same mask.</summary>
    private const int UniqueBytesMin = 17;

    private const int TriesMax = 200;

    /// <summary>Shorter ones are not looked for in capital letters or backwards: words have these by chance.</summary>
    private const int TurnedBytesMin = 6;

    /// <summary>The letters of masks are small ones alone, as there are maps for which large ones are the same.</summary>
    private const string Letters = "abcdefghijklmnopqrstuvwxyz";

    private readonly Dictionary<byte[], Original> _originals = new(ContentComparer.Instance);
    private readonly HashSet<byte[]> _taken = new(ContentComparer.Instance);

    private readonly TextIndex _index = new(), _turnedIndex = new();

    /// <summary>The forms of texts that are found and not replaced: other letters, backwards, escaped. All are in small letters.</summary>
    private readonly HashSet<byte[]> _turned = new(ContentComparer.Instance);

    /// <summary>No value is to be found.</summary>
    internal bool IsEmpty => _originals.Count == 0;

    /// <summary>Takes in a value that is to be masked.</summary>
    internal void Learn(ReadOnlySpan<byte> content, bool isText)
    {
        if (content.IsEmpty) return;
        Dictionary<byte[], Original>.AlternateLookup<ReadOnlySpan<byte>> known = _originals.GetAlternateLookup<ReadOnlySpan<byte>>();
        ReadOnlySpan<byte> name = NameOf(content);
        if (known.TryGetValue(name, out Original? original))
        {
            original.IsText |= isText;
            return;
        }
        known[name] = new Original { IsText = isText };
        if (content.Length is < WithinBytesMin or > KeptBytesMax) return;
        _index.Add(content);
        if (content.Length < TurnedBytesMin || !Utf8.IsValid(content)) return;
        foreach (byte[] form in TurnedOf(content))
            if (_turned.Add(form)) _turnedIndex.Add(form);
    }

    /// <summary>Returns the forms that are told and not replaced, in small letters: they have other lengths, or other letters.</summary>
    private static byte[][] TurnedOf(ReadOnlySpan<byte> content)
    {
        byte[] small = Lower(content);
        string text = System.Text.Encoding.UTF8.GetString(content);
        string[] escaped =
        [
            JavaScriptEncoder.Default.Encode(text), JavaScriptEncoder.UnsafeRelaxedJsonEscaping.Encode(text),
            Uri.EscapeDataString(text), HtmlEncoder.Default.Encode(text),
        ];
        return [small, [.. small.Reverse()], .. escaped.Select(static each => Lower(System.Text.Encoding.UTF8.GetBytes(each)))];
    }

    /// <summary>Returns whether a content holds a learnt value in other letters, backwards, or escaped.</summary>
    internal bool HoldsTurned(ReadOnlySpan<byte> content)
    {
        if (_turnedIndex.IsEmpty) return false;
        ReadOnlySpan<byte> small = Lower(content);
        HashSet<byte[]>.AlternateLookup<ReadOnlySpan<byte>> known = _turned.GetAlternateLookup<ReadOnlySpan<byte>>();
        for (int at = 0; at + TurnedBytesMin <= small.Length; at++)
            foreach (int length in _turnedIndex.LengthsAt(small[at..]) ?? [])
                if (at + length <= small.Length && known.Contains(small.Slice(at, length))) return true;
        return false;
    }

    /// <summary>Overwrites a value that was learnt.</summary>
    internal void Mask(Span<byte> content)
    {
        if (!TryMaskWhole(content) && content.Length > 0) throw new InvalidOperationException("a value that was not there before");
    }

    /// <summary>Overwrites a value under another name, if it is one that was learnt, or what it holds of such ones.</summary>
    /// <returns>False: it is as it was.</returns>
    internal bool Replace(Span<byte> content, bool isText) => TryMaskWhole(content) || ReplaceWithin(content, WithinBytesMin, isText);

    /// <summary>Returns what a text of the user's becomes, such as a key in a path.</summary>
    internal string Replaced(string text)
    {
        byte[] content = System.Text.Encoding.UTF8.GetBytes(text);
        Replace(content, isText: true);
        return System.Text.Encoding.UTF8.GetString(content);
    }

    /// <summary>Returns whether a whole value was learnt.</summary>
    internal bool IsKnown(ReadOnlySpan<byte> content) => !content.IsEmpty && Find(NameOf(content)) is not null;

    /// <summary>Returns the length of the longest one that these bytes begin with; 0: none.</summary>
    internal int LengthAt(ReadOnlySpan<byte> content) => Match(content, isText: false)?.Length ?? 0;

    /// <summary>Returns what stands for one that was learnt.</summary>
    internal byte[] MaskOf(ReadOnlySpan<byte> content) => MaskOf(Find(NameOf(content))!, content);

    /// <summary>Returns letters, as many as asked for, that stand for one whose form has another length than itself.</summary>
    internal byte[] LettersOf(ReadOnlySpan<byte> content, int count)
    {
        byte[] letters = new byte[count];
        Fill(letters, HMACSHA256.HashData(key, content), tries: 0, Alphabet.Letters);
        return letters;
    }

    internal bool TryMaskWhole(Span<byte> content)
    {
        if (content.IsEmpty || Find(NameOf(content)) is not { } original) return false;
        MaskOf(original, content).CopyTo(content);
        return true;
    }

    /// <param name="bytesMin">Shorter ones are left, as they stand there by chance.</param>
    internal bool ReplaceWithin(Span<byte> content, int bytesMin, bool isText = false)
    {
        if (_index.IsEmpty) return false;
        bool isReplaced = false;
        for (int at = 0; at + WithinBytesMin <= content.Length; at++)
        {
            if (Match(content[at..], isText) is not { } original || original.Length < bytesMin) continue;
            byte[] mask = MaskOf(original, content.Slice(at, original.Length));
            mask.CopyTo(content[at..]);
            at += mask.Length - 1;
            isReplaced = true;
        }
        return isReplaced;
    }

    /// <summary>Finds the longest original that these bytes begin with. In a text bytes that are none would break it.</summary>
    private Original? Match(ReadOnlySpan<byte> content, bool isText)
    {
        foreach (int length in _index.LengthsAt(content) ?? [])
            if (length <= content.Length && Find(content[..length]) is { } original
                && (!isText || IsWholeText(content, length)))
            {
                original.Length = length;
                return original;
            }
        return null;
    }

    private static bool IsWholeText(ReadOnlySpan<byte> content, int length) =>
        Utf8.IsValid(content[..length]) && (content.Length == length || (content[length] & 0xC0) != 0x80);

    private Original? Find(ReadOnlySpan<byte> name) =>
        _originals.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(name, out Original? found) ? found : null;

    private byte[] MaskOf(Original original, ReadOnlySpan<byte> content)
    {
        if (original.Mask is { } known) return known;
        byte[] mask = Choose(content, original.IsText || Utf8.IsValid(content));
        if (content.Length <= KeptBytesMax) original.Mask = mask;
        return mask;
    }

    private byte[] Choose(ReadOnlySpan<byte> content, bool isText)
    {
        byte[] mask = new byte[content.Length];
        byte[] seed = HMACSHA256.HashData(key, content);
        bool isOfDigits = isText && !content.ContainsAnyExceptInRange((byte)'0', (byte)'9');
        for (int tries = 0; tries < TriesMax; tries++)
        {
            Fill(mask, seed, tries, !isText ? Alphabet.Bytes : isOfDigits && tries < TriesMax / 2 ? Alphabet.Digits : Alphabet.Letters);
            if (MayStand(mask, content)) return mask;
        }
        // Of the short ones so many are masked that chance finds no other: whatever is left stands for it.
        mask.AsSpan().Fill((byte)' ');
        do if (_taken.Add(mask)) return mask;
        while (Next(mask, isText));
        throw new InvalidOperationException($"more different values of {content.Length} bytes are to be masked than there are");
    }

    private bool MayStand(byte[] mask, ReadOnlySpan<byte> content)
    {
        if (mask.AsSpan().SequenceEqual(content)) return false;
        for (int at = 0; at + WithinBytesMin <= mask.Length; at++)
            if (Match(mask.AsSpan(at), isText: false) is not null) return false;
        return mask.Length >= UniqueBytesMin || _taken.Add(mask);
    }

    /// <summary>Makes the next mask, of what one byte of UTF-8 says or of all bytes; false: that was the last.</summary>
    private static bool Next(byte[] mask, bool isText)
    {
        const byte TextEnd = 0x80;
        for (int i = mask.Length - 1; i >= 0; i--)
        {
            mask[i] = (byte)(mask[i] + 1);
            if (isText && mask[i] == TextEnd) mask[i] = 0;
            if (mask[i] != ' ') return true;
        }
        return false;
    }

    private static void Fill(byte[] mask, byte[] seed, int tries, Alphabet alphabet)
    {
        Span<byte> input = stackalloc byte[sizeof(int) * 2], block = stackalloc byte[HMACSHA256.HashSizeInBytes];
        for (int at = 0; at < mask.Length; at += block.Length)
        {
            BitConverter.TryWriteBytes(input, tries);
            BitConverter.TryWriteBytes(input[sizeof(int)..], at);
            HMACSHA256.HashData(seed, input, block);
            for (int i = 0; i < block.Length && at + i < mask.Length; i++)
                mask[at + i] = alphabet switch
                {
                    Alphabet.Letters => (byte)Letters[block[i] % Letters.Length],
                    Alphabet.Digits => (byte)('0' + block[i] % 10),
                    _ => block[i],
                };
        }
    }

    private static ReadOnlySpan<byte> NameOf(ReadOnlySpan<byte> content)
    {
        if (content.Length <= KeptBytesMax) return content;
        byte[] name = [.. SHA256.HashData(content), .. new byte[KeptBytesMax]]; // longer than any that is kept as it is
        return name;
    }

    private static byte[] Lower(ReadOnlySpan<byte> content)
    {
        byte[] small = content.ToArray();
        foreach (ref byte each in small.AsSpan())
            if (each is >= (byte)'A' and <= (byte)'Z') each += 'a' - 'A';
        return small;
    }

    private enum Alphabet { Letters, Digits, Bytes }

    /// <summary>One value that is masked; what stands for it is chosen when it is met.</summary>
    private sealed class Original
    {
        internal bool IsText;
        internal byte[]? Mask;

        /// <summary>The length of the text that was found within another.</summary>
        internal int Length;
    }
}
