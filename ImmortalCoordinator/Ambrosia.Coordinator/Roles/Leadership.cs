using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>
/// What a replica has once it is primary: the epoch that it claimed, the lock that it took first, and the log that it took over.
/// </summary>
internal sealed record Leadership(Fence Fence, PrimaryLock Lock, OpenLog Log);
