using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator;

/// <summary>
/// The command <c>promote</c> (protocol P9.7): a secondary claims the next epoch, whoever is primary, and answers when it is primary
/// itself. Of one connection's thread.
/// </summary>
internal sealed class PromoteCommand : IAdminReply
{
    private readonly Coordinator coordinator;

    private PromoteCommand(Coordinator coordinator) => this.coordinator = coordinator;

    /// <param name="claim">Begins the claim and returns at once.</param>
    public static IAdminReply Begin(Coordinator coordinator, Action claim)
    {
        if (coordinator.HasLog) return AdminAnswer.Refuse("this replica is primary already. Ask a secondary: 'status' shows them.");
        if (!coordinator.IsCaughtUp) return AdminAnswer.Refuse("this replica has not executed all of the log yet. Ask again when 'status' shows it caught up.");
        claim();
        return new PromoteCommand(coordinator);
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = coordinator.IsPrimary;
        return isLast ? new JsonObject { ["primary"] = true, ["epoch"] = coordinator.Epoch.Value } : null;
    }
}
