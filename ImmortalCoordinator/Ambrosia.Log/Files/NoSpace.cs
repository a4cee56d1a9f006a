namespace Ambrosia.Log;

/// <summary>Tells a full disk, which time or an operator mends, from a broken one.</summary>
public static class NoSpace
{
    private const int DeviceFull = 28, QuotaReached = 122; // ENOSPC, EDQUOT

    public static bool Is(IOException e) => e.HResult is DeviceFull or QuotaReached;
}
