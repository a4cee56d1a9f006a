using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Ambrosia.Images.Json;

/// <summary>
/// Writes JSON in pieces to whoever takes them, so that a state of any size passes. It knows the forms of docs/tools.md for what JSON has
/// no form for: bytes, texts that are no Unicode, numbers that are none.
/// </summary>
internal sealed class JsonOutput : IDisposable
{
    private const int PieceBytes = 64 << 10;

    private readonly ArrayBufferWriter<byte> _piece = new(2 * PieceBytes);
    private readonly Action<ReadOnlySpan<byte>> _take;

    /// <param name="take">Takes whole tokens; null: nothing is written, and the caller only wants to walk.</param>
    internal JsonOutput(Action<ReadOnlySpan<byte>>? take, bool isIndented)
    {
        _take = take ?? (static _ => { });
        IsNowhere = take is null;
        To = new Utf8JsonWriter(_piece, new JsonWriterOptions
        {
            Indented = isIndented, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping, MaxDepth = 1 << 20, SkipValidation = true,
        });
    }

    internal Utf8JsonWriter To { get; }

    /// <summary>True if nobody takes what is written: what refers to nothing may be left out.</summary>
    internal bool IsNowhere { get; }

    /// <summary>Gives away what was written so far if it is much.</summary>
    internal void Advance()
    {
        if (To.BytesPending + To.BytesCommitted - _given >= PieceBytes) Flush();
    }

    internal void Flush()
    {
        To.Flush();
        _given = To.BytesCommitted;
        _take(_piece.WrittenSpan);
        _piece.ResetWrittenCount();
    }

    private long _given;

    /// <summary>Begins a text of its own: what was written before has been given away.</summary>
    internal void Restart()
    {
        To.Reset();
        _given = 0;
    }

    /// <summary>Writes a text as a string; one with lone surrogates with these as escapes.</summary>
    internal void Text(string text)
    {
        if (IsUnicode(text)) To.WriteStringValue(text);
        else To.WriteRawValue(Escaped(text), skipInputValidation: true);
    }

    /// <summary>Writes a number of 2, 4 or 8 bytes by its shortest digits, or the word for one that is none.</summary>
    internal void Float(double value, int bytes)
    {
        if (!double.IsFinite(value)) To.WriteStringValue(double.IsNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
        else if (bytes == 8) To.WriteNumberValue(value);
        else if (bytes == 4) To.WriteNumberValue((float)value);
        else To.WriteRawValue(((Half)value).ToString(CultureInfo.InvariantCulture));
    }

    internal void Integer(Int128 value) => To.WriteRawValue(value.ToString(CultureInfo.InvariantCulture), skipInputValidation: true);

    internal void Integer(UInt128 value) => To.WriteRawValue(value.ToString(CultureInfo.InvariantCulture), skipInputValidation: true);

    /// <summary>Returns a key that no name of ours looks like: one that begins with a dollar has two.</summary>
    internal static string Key(string text) => text.StartsWith('$') ? $"${text}" : IsUnicode(text) ? text : $"$escaped:{Escaped(text)[1..^1]}";

    public void Dispose() => To.Dispose();

    private static bool IsUnicode(string text)
    {
        for (int i = 0; i < text.Length; i++)
        {
            if (!char.IsSurrogate(text[i])) continue;
            if (i + 1 == text.Length || !char.IsSurrogatePair(text[i], text[i + 1])) return false;
            i++;
        }
        return true;
    }

    private static string Escaped(string text)
    {
        var to = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c is >= ' ' and < (char)0x7F and not ('"' or '\\')) to.Append(c);
            else to.Append(CultureInfo.InvariantCulture, $"\\u{(int)c:x4}");
        }
        return to.Append('"').ToString();
    }
}
