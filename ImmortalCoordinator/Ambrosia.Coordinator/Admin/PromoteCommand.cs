using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>promote</c> (protocol P9.7): a secondary that is near enough to the log's end claims the next epoch, whoever is
/// primary, and answers when it is primary itself. One connection's thread uses it; when the caller goes before the claim, there is none.
/// </summary>
internal sealed class PromoteCommand : IAdminReply
{
    /// <summary>
    /// So much may be left to execute: under load there is always some, and the take-over executes it before it opens links.
    /// </summary>
    internal const ulong LagBytesMax = 4 << 20;

    private readonly Func<ulong> _lag;
    private readonly Func<Epoch?> _primary;
    private readonly Action _claim;
    private bool _hasClaimed;

    private PromoteCommand(Func<ulong> lag, Func<Epoch?> primary, Action claim)
    {
        _lag = lag;
        _primary = primary;
        _claim = claim;
    }

    /// <param name="hasLog">This replica writes the log.</param>
    /// <param name="lag">Log bytes left to execute.</param>
    /// <param name="primary">The epoch in which this replica is primary; null: it is not.</param>
    /// <param name="claim">Begins the claim and returns at once.</param>
    public static IAdminReply Begin(bool hasLog, Func<ulong> lag, Func<Epoch?> primary, Action claim) => hasLog
        ? AdminAnswer.Refuse("this replica is primary already. Ask a secondary: 'status' shows them.")
        : new PromoteCommand(lag, primary, claim);

    public JsonObject? Next(out bool isLast)
    {
        if (!_hasClaimed && _lag() <= LagBytesMax)
        {
            _hasClaimed = true;
            _claim();
        }
        Epoch? epoch = _primary();
        isLast = epoch is not null;
        return epoch is { } won ? new JsonObject { ["primary"] = true, ["epoch"] = won.Value } : null;
    }
}
