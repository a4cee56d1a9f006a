using System.Text;

namespace Ambrosia.Log.Files;

/// <summary>Knows what is mounted where (proc(5), /proc/self/mountinfo).</summary>
public sealed class MountTable(IReadOnlyList<MountPoint> points)
{
    private const string Place = "/proc/self/mountinfo";
    private const int FieldsBeforeOptional = 6;

    public static MountTable Read() => Parse(File.Exists(Place) ? File.ReadAllText(Place) : "");

    /// <summary>Parses the file. Lines of another form are left out.</summary>
    public static MountTable Parse(string text) =>
        new([.. text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(ParseLine).OfType<MountPoint>()]);

    /// <summary>
    /// Returns the mount on which a path without symbolic links stands: the deepest, and of several at one place the last.
    /// </summary>
    public MountPoint? Find(string path)
    {
        MountPoint? found = null;
        foreach (MountPoint point in points)
            if (point.Holds(path) && (found is null || point.Path.Length >= found.Path.Length)) found = point;
        return found;
    }

    /// <summary>
    /// Parses a line like <c>36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/x rw,errors=continue</c>. Before " - " stands the mount,
    /// behind it its file system.
    /// </summary>
    private static MountPoint? ParseLine(string line)
    {
        string[] halves = line.Split(" - ", 2);
        if (halves.Length != 2) return null;
        string[] mount = halves[0].Split(' '), system = halves[1].Split(' ');
        if (mount.Length < FieldsBeforeOptional || system.Length < 2) return null;
        var options = new Dictionary<string, string>();
        foreach (string option in mount[5].Split(',').Concat(system.Length > 2 ? system[2].Split(',') : []))
        {
            int sign = option.IndexOf('=');
            options[sign < 0 ? option : option[..sign]] = sign < 0 ? "" : option[(sign + 1)..];
        }
        return new MountPoint(Unescape(mount[4]), system[0], Unescape(system[1]), mount[2], options);
    }

    /// <summary>Replaces the escapes of spaces, tabs, newlines and backslashes, which are three octal digits each.</summary>
    private static string Unescape(string text)
    {
        if (!text.Contains('\\')) return text;
        var bytes = new List<byte>(text.Length);
        byte[] from = Encoding.UTF8.GetBytes(text);
        for (int i = 0; i < from.Length; i++)
        {
            bool isEscape = from[i] == '\\' && i + 3 < from.Length
                && from.AsSpan(i + 1, 3).IndexOfAnyExceptInRange((byte)'0', (byte)'7') < 0;
            if (!isEscape)
            {
                bytes.Add(from[i]);
                continue;
            }
            bytes.Add((byte)(((from[i + 1] - '0') << 6) | ((from[i + 2] - '0') << 3) | (from[i + 3] - '0')));
            i += 3;
        }
        return Encoding.UTF8.GetString([.. bytes]);
    }
}
