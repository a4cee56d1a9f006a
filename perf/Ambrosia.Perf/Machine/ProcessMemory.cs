using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>Memory of another process.</summary>
internal static class ProcessMemory
{
    /// <summary>Resident bytes, shared pages included.</summary>
    /// <exception cref="FailedRoundException">It is gone.</exception>
    public static long ResidentBytes(int id)
    {
        const string key = "VmRSS:";
        try
        {
            string line = File.ReadLines($"/proc/{id}/status").First(static each => each.StartsWith(key, StringComparison.Ordinal));
            return long.Parse(line.AsSpan(key.Length).Trim().TrimEnd("kB").Trim(), CultureInfo.InvariantCulture) * 1024;
        }
        catch (Exception e) when (e is IOException or InvalidOperationException)
        {
            throw new FailedRoundException($"process {id} has no memory: it ended");
        }
    }
}
