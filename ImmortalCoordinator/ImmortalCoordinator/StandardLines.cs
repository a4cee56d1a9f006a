using System.Text;
using Ambrosia.Protocol.Texts;

namespace ImmortalCoordinator;

/// <summary>
/// The standard output and the standard error of the executable, for lines that are no events. Every text that it is given is made harmless
/// here, since it may quote what others have written. One thread uses it.
/// </summary>
internal static class StandardLines
{
    public static void Write(string line) => Console.WriteLine(HarmlessText.Lines(line));

    public static void WriteError(string line) => Console.Error.WriteLine(HarmlessText.Lines(line));

    /// <summary>Writes a piece of a state: JSON in whole characters of UTF-8.</summary>
    public static void WritePiece(ReadOnlySpan<byte> utf8) => Console.Write(HarmlessText.Json(Encoding.UTF8.GetString(utf8)));
}
