using Ambrosia.Coordinator.Replica;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>Holds what makes one upgrade of this replica, and behind it what makes it again where that is needed.</summary>
/// <param name="Round">It leads the upgrade itself.</param>
/// <param name="Rehearsal">It tries the conversion beforehand.</param>
/// <param name="Apps">What two apps need who make it together; null: one app carries both versions.</param>
internal sealed record UpgradeParts(UpgradeOptions Options, UpgradeRound Round, UpgradeRehearsal Rehearsal, TwoAppParts? Apps);

/// <summary>Holds what two apps need to make an upgrade together, each in a process of its own.</summary>
/// <param name="Handover">It takes the state of the old app to the new one.</param>
/// <param name="Rebuild">It ends the old app where the log has the upgrade.</param>
/// <param name="Pair">It knows which of them executes the log.</param>
internal sealed record TwoAppParts(StateHandover Handover, VersionRebuild Rebuild, AppPair Pair);
