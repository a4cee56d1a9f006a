using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// Counts the queries of one session. It owns the number of the last one, and how many are under way: at most
/// <see cref="ClientSession.RequestsMax"/>. The session's lock guards it.
/// </summary>
internal sealed class ClientQueries
{
    private ulong _last;
    private uint _underWay;

    /// <exception cref="ProtocolViolation">P10.9.</exception>
    public void Count(ulong number)
    {
        if (number != _last + 1) throw new ProtocolViolation("P10.9", $"query {number} where {_last + 1} is next");
        if (_underWay == ClientSession.RequestsMax)
            throw new ProtocolViolation("P10.9", $"more than {ClientSession.RequestsMax} queries under way");
        _last = number;
        _underWay++;
    }

    public void Answered() => _underWay--;
}
