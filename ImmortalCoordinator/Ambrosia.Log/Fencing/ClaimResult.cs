using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>What came of one try to become primary.</summary>
public abstract record ClaimResult
{
    private ClaimResult()
    {
    }

    /// <summary>This process is the claimer of <see cref="Epoch"/> and holds its lock; take over next.</summary>
    public sealed record Claimed(Fence Fence, PrimaryLock PrimaryLock) : ClaimResult
    {
        public Epoch Epoch => Fence.Epoch;
    }

    /// <summary>A living process is primary, or about to be: wait for its lock, then try again.</summary>
    /// <param name="Epoch">The epoch in force.</param>
    public sealed record Held(string LockPath, Epoch Epoch) : ClaimResult;

    /// <summary>Somebody was faster: try again.</summary>
    public sealed record Lost : ClaimResult;
}
