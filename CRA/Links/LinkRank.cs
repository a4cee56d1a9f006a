using Ambrosia.Protocol;

namespace CRA.Links;

/// <summary>
/// The rank decides which of two connections of the same pair of instances wins (protocol P6.10). Both ends see the same values, so both
/// decide alike.
/// </summary>
/// <param name="Smaller">Epoch of the instance with the ordinally smaller name.</param>
/// <param name="Larger">Epoch of the other instance.</param>
/// <param name="Nonce">The dialler's nonce in its Hello.</param>
/// <param name="DialledBySmaller">Whether the instance with the smaller name dialled the connection.</param>
public readonly record struct LinkRank(Epoch Smaller, Epoch Larger, ulong Nonce, bool DialledBySmaller)
{
    /// <summary>
    /// Compares <paramref name="candidate"/> with <paramref name="standing"/>. Of two connections with equal ranks the standing one stays.
    /// </summary>
    public static LinkOrder Compare(LinkRank candidate, LinkRank standing)
    {
        if (candidate.Smaller < standing.Smaller || candidate.Larger < standing.Larger) return LinkOrder.Refused;
        if (candidate.Smaller > standing.Smaller || candidate.Larger > standing.Larger) return LinkOrder.Newer;
        if (candidate.Nonce != standing.Nonce) return candidate.Nonce > standing.Nonce ? LinkOrder.Newer : LinkOrder.Older;
        return candidate.DialledBySmaller && !standing.DialledBySmaller ? LinkOrder.Newer : LinkOrder.Older;
    }

    /// <summary>
    /// Returns the nonce of the next dial. It follows the highest nonce that either side has seen for the pair and these epochs, where 0
    /// says that none was seen.
    /// </summary>
    /// <exception cref="ProtocolViolation">P6.10: the other side used up the last one, after which no connection could win.</exception>
    public static ulong NonceAfter(ulong highestSeen) =>
        highestSeen < ulong.MaxValue ? highestSeen + 1 : throw new ProtocolViolation("P6.10", "the highest nonce leaves no next one");
}

/// <summary>The order says which of two connections of the same pair of instances stays (protocol P6.10).</summary>
public enum LinkOrder
{
    /// <summary>The connection wins, and the other one closes.</summary>
    Newer,

    /// <summary>The connection loses and closes.</summary>
    Older,

    /// <summary>The connection carries a lower epoch of one of the instances and is refused with Goodbye 1.</summary>
    Refused,
}
