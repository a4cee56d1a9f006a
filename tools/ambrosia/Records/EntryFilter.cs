using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>Which records and messages are wanted; null: no such limit.</summary>
/// <param name="From">First Lsn.</param>
/// <param name="To">Lsn that is no longer wanted.</param>
/// <param name="SinceMicros">Page time, inclusive.</param>
/// <param name="UntilMicros">Page time, inclusive.</param>
/// <param name="Sender">An instance's name.</param>
/// <param name="Methods">Ids.</param>
internal sealed record EntryFilter(
    Lsn From, Lsn? To, long? SinceMicros, long? UntilMicros, string? Sender = null, IReadOnlySet<uint>? Methods = null, ulong? Call = null,
    string? Kind = null)
{
    /// <summary>Only messages can fit.</summary>
    public bool IsOfMessages => Sender is not null || Methods is not null || Call is not null;

    /// <summary>Nothing from this place on is wanted: positions and times never decrease.</summary>
    public bool IsBehind(Lsn lsn, long timeMicros) => lsn >= To || timeMicros > UntilMicros;

    public bool Fits(Lsn lsn, long timeMicros) => lsn >= From && !(timeMicros < SinceMicros) && !IsBehind(lsn, timeMicros);

    public bool FitsKind(string kind) => Kind is null || Kind.Equals(kind, StringComparison.OrdinalIgnoreCase);

    public bool FitsSender(string sender) => Sender is null || Sender == sender;

    public bool FitsMessage(uint method, ulong call) => Methods?.Contains(method) != false && (Call is null || Call == call);
}
