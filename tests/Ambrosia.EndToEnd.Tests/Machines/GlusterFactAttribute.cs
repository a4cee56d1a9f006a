using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that needs a GlusterFS volume and machines that mount it; skipped, with the reason, where they cannot be made.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class GlusterFactAttribute : FactAttribute
{
    private static readonly string[] s_tools = ["glusterd", "gluster", "glusterfs", "ip", "nsenter", "unshare"];
    private static readonly string? s_whyNot = WhyNot();

    public GlusterFactAttribute()
    {
        if (s_whyNot is not null) Skip = s_whyNot;
    }

    /// <summary>It waits for a minute by its nature, and is for releases.</summary>
    public bool TakesAMinute
    {
        get;
        init
        {
            field = value;
            if (value && TestScale.Value < 1) Skip ??= $"it takes a minute: {TestScale.Variable}=1";
        }
    }

    private static string? WhyNot()
    {
        if (!Environment.IsPrivilegedProcess) return "only root can make machines that mount a volume";
        string[] missing = [.. s_tools.Where(static tool => FindTool(tool) is null)];
        if (missing.Length > 0) return $"not installed: {string.Join(", ", missing)}";
        return File.Exists("/dev/fuse") ? MountFactAttribute.Missing ?? WhyNoMachine() : "there is no /dev/fuse here";
    }

    private static string? WhyNoMachine()
    {
        string root = Directory.CreateTempSubdirectory("ambrosia-gluster-").FullName;
        try
        {
            using var trial = new GlusterMachines(root, withoutCaches: false, GlusterMachines.Coherent);
            return null;
        }
        catch (Exception e) when (e is IOException or TimeoutException)
        {
            return $"no machine can mount a volume here: {e.Message}";
        }
        finally
        {
            Directory.Delete(root, recursive: true);
        }
    }

    private static string? FindTool(string name) => (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':')
        .Append("/usr/sbin").Append("/sbin").Select(folder => Path.Combine(folder, name)).FirstOrDefault(File.Exists);
}
