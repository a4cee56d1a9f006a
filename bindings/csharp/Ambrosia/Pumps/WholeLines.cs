using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Pumps;

/// <summary>
/// Writes each text with one write. <see cref="Console"/> writes a long one in pieces of 256 characters, and where the standard output and
/// the standard error are one file, those of the coordinator, or of another process, come between them. Each is made harmless, since it
/// may quote what callers have sent. Any thread may use it.
/// </summary>
internal sealed class WholeLines(Stream to)
{
    internal static readonly WholeLines OfErrors = new(Console.OpenStandardError());

    /// <summary>Writes a text, which may have several lines, and an end of line behind it.</summary>
    internal void Write(string text) => to.Write(Utf8Text.Shown(HarmlessText.Lines(text) + Environment.NewLine));
}
