namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Removes what the .NET runtime of a process that was killed has left in the temporary folder: the socket for traces and the pipes for
/// debuggers, which a process that ends in order removes itself. Their names hold the process id. They are empty, and whatever cannot be
/// removed stays.
/// </summary>
internal static class RuntimeFiles
{
    private static readonly string[] s_beginnings = ["dotnet-diagnostic-", "clr-debug-pipe-"];

    /// <summary>Removes those of a process that was to have ended, if it has.</summary>
    /// <param name="folder">The temporary folder of that process.</param>
    public static void RemoveIfEnded(int process, string folder)
    {
        if (Directory.Exists($"/proc/{process}")) return;
        foreach (string beginning in s_beginnings) Remove(folder, $"{beginning}{process}-*");
    }

    private static void Remove(string folder, string pattern)
    {
        try
        {
            foreach (string path in Directory.GetFiles(folder, pattern)) File.Delete(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // They are in nobody's way.
        }
    }
}
