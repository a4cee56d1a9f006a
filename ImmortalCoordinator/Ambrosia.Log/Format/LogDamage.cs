using Ambrosia.Protocol;

namespace Ambrosia.Log.Format;

/// <summary>
/// What the log promises is not there, or is not what it was. The process halts (exit 65) and an operator decides: history is never
/// silently shortened.
/// </summary>
public sealed class LogDamage : Exception
{
    /// <summary>The process ends with this code.</summary>
    public const int ExitCode = 65;

    /// <param name="file">Path of the damaged file.</param>
    /// <param name="offset">Bytes into the file.</param>
    /// <param name="lsn">Log position of the damage; null where the file is no part of the log (instance, fence, checkpoint).</param>
    /// <param name="expected">What the format or the rest of the log says must stand there.</param>
    /// <param name="found">What stands there.</param>
    public LogDamage(string file, long offset, Lsn? lsn, string expected, string found)
        : base($"{file} is damaged at byte {offset}{(lsn is { } at ? $" (Lsn {at})" : "")}: expected {expected}, found {found}")
    {
        File = file;
        Offset = offset;
        Lsn = lsn;
        Expected = expected;
        Found = found;
    }

    /// <summary>
    /// True where names may still be listed that are gone, or that are not there yet for who lists: whoever waits a little and lists again
    /// may find no damage. It is damage for whoever has waited.
    /// </summary>
    public bool MayPass { get; init; }

    public string File { get; }
    public long Offset { get; }
    public Lsn? Lsn { get; }
    public string Expected { get; }
    public string Found { get; }
}
