using System.Globalization;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Checks who else may read or change the log (log-format L1.1). Modes are 0700 and 0600, or with --log-group 0750 and 0640.
/// </summary>
internal static class PermissionCheck
{
    private const string Check = "permissions";
    private const UnixFileMode Others = UnixFileMode.OtherRead | UnixFileMode.OtherWrite | UnixFileMode.OtherExecute;

    public static IEnumerable<Finding> Run(string directory, bool isThere)
    {
        if (!isThere)
        {
            yield return Finding.Ok(Check, "the coordinator makes the directory with mode 0700");
            yield break;
        }
        UnixFileMode mode = File.GetUnixFileMode(directory);
        if ((mode & (Others | UnixFileMode.GroupWrite)) != 0)
            yield return Finding.Fail(Check, $"the directory has mode {Octal(mode)}",
                "others can read what immortals were told, or put files into the log", $"chmod 700 {directory}");
        string[] open = [
            .. Directory.EnumerateFiles(directory).Where(IsTooOpen).Select(static path => Path.GetFileName(path))
                .Order(StringComparer.Ordinal)];
        if (open.Length > 0)
            yield return Finding.Fail(Check,
                $"{open.Length} files can be read or written by others: {string.Join(", ", open.Take(5))}{(open.Length > 5 ? ", …" : "")}",
                "they hold what immortals were told, or the token that lets an app in", $"chmod 600 {directory}/*");
        if ((mode & (Others | UnixFileMode.GroupWrite)) == 0 && open.Length == 0)
            yield return Finding.Ok(Check, $"directory {Octal(mode)}, no file is open to others");
        string? parent = Path.GetDirectoryName(directory);
        if (parent is not null && File.GetUnixFileMode(parent) is var above && (above & UnixFileMode.OtherWrite) != 0
            && (above & UnixFileMode.StickyBit) == 0)
            yield return Finding.Warn(Check, $"{parent} has mode {Octal(above)}",
                "anybody can move the log away and put another in its place", $"chmod o-w {parent}");
    }

    /// <summary>Tells whether others may read or write a file. Sockets are guarded by their directory and a token.</summary>
    private static bool IsTooOpen(string path)
    {
        try
        {
            return !path.EndsWith(".sock", StringComparison.Ordinal)
                && (File.GetUnixFileMode(path) & (Others | UnixFileMode.GroupWrite)) != 0;
        }
        catch (FileNotFoundException) // a live log
        {
            return false;
        }
    }

    private static string Octal(UnixFileMode mode) =>
        "0" + Convert.ToString((int)mode, 8).PadLeft(3, '0').ToString(CultureInfo.InvariantCulture);
}
