using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The queries of one session: their numbers, and how many are under way. Guarded by its session. Invariant: at most
/// <see cref="ClientParts.RequestsMax"/>.
/// </summary>
internal sealed class ClientQueries
{
    private ulong last;
    private uint underWay;

    /// <exception cref="ProtocolViolation">P10.9.</exception>
    public void Count(ulong number)
    {
        if (number != last + 1) throw new ProtocolViolation("P10.9", $"query {number} where {last + 1} is next");
        if (underWay == ClientParts.RequestsMax)
            throw new ProtocolViolation("P10.9", $"more than {ClientParts.RequestsMax} queries under way");
        last = number;
        underWay++;
    }

    public void Answered() => underWay--;
}
