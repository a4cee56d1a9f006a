using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Holds what an app that shows its token has said, and how long it is kept, before its session begins, and what an upgrade makes of the
/// session. The thread that reads the app writes it, but where a member says otherwise.
/// </summary>
internal sealed class AppGreeting
{
    private volatile ConversionSession? _conversion;
    private volatile UpgradeRound? _upgradedBy;
    private volatile bool _hasGivenWay;

    /// <summary>
    /// This upgrade was called while the session was primary, and its app has been asked for its state; null: none was. The thread that
    /// sends writes it, any reads it.
    /// </summary>
    public UpgradeRound? UpgradedBy { get => _upgradedBy; set => _upgradedBy = value; }

    /// <summary>The app was told that another version goes on. The thread that sends writes it, any reads it.</summary>
    public bool HasGivenWay { get => _hasGivenWay; set => _hasGivenWay = value; }

    /// <summary>
    /// The session converts a state beside the app that executes the log; null: it is to execute it. Any thread reads it.
    /// </summary>
    public ConversionSession? Conversion { get => _conversion; set => _conversion = value; }

    /// <summary>It is the new app of an upgrade, and the old one executes the log: nothing of it is for the log.</summary>
    public bool IsBeside { get; set; }

    /// <summary>It waits while another session is live.</summary>
    public bool IsPatient { get; set; }

    public AppHello? App { get; set; }

    /// <summary>What its build executes; null: it has not said it.</summary>
    public BuildMethods? Methods { get; set; }
}

/// <summary>Ends a session: the app said goodbye, or was sent away.</summary>
internal sealed class AppLeftException(Goodbye goodbye) : Exception(goodbye.Why)
{
    public Goodbye Goodbye { get; } = goodbye;
}
