using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary><c>&lt;name&gt;.&lt;replica&gt;.&lt;epoch&gt;.tmp</c>: a file that gets its name when it is whole (log-format L1.1).</summary>
internal readonly record struct TemporaryFileName(string Name, string Replica, Epoch Epoch)
{
    private const string Extension = "tmp";

    public static TemporaryFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length < 4 || parts[^1] != Extension || !Names.IsValid(parts[^3])) return null;
        if (!FileNumber.TryParse(parts[^2], out ulong epoch)) return null;
        return new TemporaryFileName(string.Join('.', parts[..^3]), parts[^3], new Epoch(epoch));
    }

    public override string ToString() => $"{Name}.{Replica}.{Epoch}.{Extension}";
}
