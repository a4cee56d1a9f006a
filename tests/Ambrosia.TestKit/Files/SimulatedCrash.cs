namespace Ambrosia.TestKit;

/// <summary>
/// Thrown by an operation hook to kill the process that asks, at that operation; thrown by every later operation of a dead process, so
/// that its <c>finally</c> blocks cannot touch the disk any more. Code under test must not catch it: only the simulator does.
/// </summary>
public sealed class SimulatedCrash(string why) : Exception(why)
{
    /// <summary>When the operation is a write: bytes of it that still reach the page cache before the process dies.</summary>
    public int BytesWritten { get; init; }
}
