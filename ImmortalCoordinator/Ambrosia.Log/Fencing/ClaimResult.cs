using Ambrosia.Protocol;

namespace Ambrosia.Log.Fencing;

/// <summary>Says how one try to become primary has ended.</summary>
public abstract record ClaimResult
{
    private ClaimResult()
    {
    }

    /// <summary>This process is the claimer of <see cref="Epoch"/> and holds its lock. It takes the log over next.</summary>
    public sealed record Claimed(Fence Fence, PrimaryLock PrimaryLock) : ClaimResult
    {
        public Epoch Epoch => Fence.Epoch;
    }

    /// <summary>A living process is primary, or about to be: the caller waits for its lock and tries again.</summary>
    /// <param name="Epoch">The epoch in force.</param>
    public sealed record Held(string LockPath, Epoch Epoch) : ClaimResult;

    /// <summary>
    /// No living process is primary, or it hangs; but its machine was not shown to see at once what this one renames (log-format L7.10).
    /// </summary>
    /// <param name="Epoch">The epoch in force.</param>
    public sealed record Unproven(Epoch Epoch) : ClaimResult;

    /// <summary>Another process was faster: the caller tries again.</summary>
    public sealed record Lost : ClaimResult;
}
