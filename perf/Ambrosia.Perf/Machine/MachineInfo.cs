using System.Runtime.InteropServices;

namespace Ambrosia.Perf;

/// <summary>Where figures were measured; without it they mean nothing to others.</summary>
internal sealed record MachineInfo(string Cpu, int Cores, string Memory, string Os, string Runtime, string LogFileSystem)
{
    public static MachineInfo Of(string logDirectory) => new(
        FirstValue("/proc/cpuinfo", "model name"), Environment.ProcessorCount, FirstValue("/proc/meminfo", "MemTotal"),
        RuntimeInformation.OSDescription, RuntimeInformation.FrameworkDescription, FileSystemOf(logDirectory));

    /// <summary>The value of the first line "key : value".</summary>
    private static string FirstValue(string path, string key)
    {
        if (!File.Exists(path)) return "unknown";
        string? line = File.ReadLines(path).FirstOrDefault(each => each.StartsWith(key, StringComparison.Ordinal));
        return line is null ? "unknown" : line[(line.IndexOf(':') + 1)..].Trim();
    }

    /// <summary>The mount with the longest path above the directory: device and type.</summary>
    private static string FileSystemOf(string directory)
    {
        if (!File.Exists("/proc/mounts")) return "unknown";
        string[]? best = null;
        foreach (string[] mount in File.ReadLines("/proc/mounts").Select(static line => line.Split(' ')))
        {
            bool isAbove = directory == mount[1] || directory.StartsWith(mount[1].TrimEnd('/') + "/", StringComparison.Ordinal);
            if (isAbove && (best is null || mount[1].Length >= best[1].Length)) best = mount;
        }
        return best is null ? "unknown" : $"{best[2]} on {best[0]}";
    }
}
