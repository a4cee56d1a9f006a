namespace Ambrosia.Coordinator.Hosting;

/// <summary>The exit seam: a failed process ends at once, without running anything that might still act.</summary>
internal static class ProcessExit
{
    public static void Now(int code) => Environment.Exit(code);

    /// <summary>
    /// Disposes of parts whose process ends. Files that cannot be looked at or removed on the way out are left behind, as by a kill: the
    /// next start removes them, and how the process ends is said already.
    /// </summary>
    public static void Dispose(IEnumerable<IDisposable> parts)
    {
        foreach (IDisposable part in parts)
        {
            try
            {
                part.Dispose();
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // See above.
            }
        }
    }
}
