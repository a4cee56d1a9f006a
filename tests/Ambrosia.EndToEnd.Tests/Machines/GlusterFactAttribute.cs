using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that needs a GlusterFS volume and machines that mount it; skipped, with the reason, where they cannot be made.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class GlusterFactAttribute : FactAttribute
{
    private static readonly string[] s_tools = ["glusterd", "gluster", "glusterfs", "ip", "nsenter", "unshare"];

    public GlusterFactAttribute()
    {
        if (Missing is not null) Skip = Missing;
    }

    /// <summary>Why there is no such machine here; null: there is one.</summary>
    internal static string? Missing { get; } = WhyNot();

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

    /// <summary>The names are in an etcd.</summary>
    public bool WantsEtcd
    {
        get;
        init
        {
            field = value;
            if (value) Skip ??= EtcdServers.WhyNot;
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

/// <summary>The same for a test with several cases.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class GlusterTheoryAttribute : TheoryAttribute
{
    public GlusterTheoryAttribute()
    {
        if (GlusterFactAttribute.Missing is not null) Skip = GlusterFactAttribute.Missing;
    }

    /// <summary>It takes minutes by its nature, and is for releases.</summary>
    public bool TakesAMinute
    {
        get;
        init
        {
            field = value;
            if (value && TestScale.Value < 1) Skip ??= $"it takes a minute: {TestScale.Variable}=1";
        }
    }
}
