using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>
/// Knows which of the two apps of an upgrade executes the log: the old one up to the Upgrade record, the new one from there on. The other
/// one stands beside: the new app converts, the old one does not run. Any thread.
/// </summary>
/// <param name="isNewFirst">The log is of the new version already, as far as was read when the process started, or is empty.</param>
internal sealed class AppPair(bool isNewFirst)
{
    private int _isNewWanted = isNewFirst ? 1 : 0;

    /// <summary>The new app executes the log, or is to.</summary>
    public bool IsNewWanted => Volatile.Read(ref _isNewWanted) != 0;

    /// <summary>The old app is wanted for what this version, and this build, has executed; null: the new one is wanted.</summary>
    public NeededBuild? Needed { get; private set; }

    /// <summary>Another app is to execute the log. Called under no lock but that of the thread that sends to the app.</summary>
    public event Action? Changed;

    /// <param name="needed">It has executed what comes next; null: the new app goes on.</param>
    public void Want(NeededBuild? needed)
    {
        Needed = needed;
        bool isNew = needed is null;
        if (Interlocked.Exchange(ref _isNewWanted, isNew ? 1 : 0) == (isNew ? 1 : 0)) return;
        LockChecks.BeforeCallOut();
        Changed?.Invoke();
    }
}

/// <summary>Names the app that a stretch of the log needs.</summary>
/// <param name="Build">Null: it is not known.</param>
internal sealed record NeededBuild(uint Version, BuildId? Build);
