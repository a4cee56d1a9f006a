namespace Ambrosia.Coordinator.Pumps;

/// <summary>The exit seam: a failed process ends at once, without running anything that might still act.</summary>
internal static class ProcessExit
{
    public static void Now(int code) => Environment.Exit(code);
}
