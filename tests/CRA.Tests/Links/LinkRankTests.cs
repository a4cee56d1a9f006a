using Ambrosia.Protocol;
using CRA.Links;

namespace CRA.Tests;

public sealed class LinkRankTests
{
    private delegate LinkOrder Comparison(LinkRank candidate, LinkRank standing);

    // Every pair of ranks over small values: 3 × 3 epochs, 3 nonces, 2 diallers.
    private static IEnumerable<LinkRank> Ranks() =>
        from smaller in Enumerable.Range(1, 3)
        from larger in Enumerable.Range(1, 3)
        from nonce in new[] { 1UL, 2UL, ulong.MaxValue }
        from bySmaller in new[] { false, true }
        select new LinkRank(new Epoch((ulong)smaller), new Epoch((ulong)larger), nonce, bySmaller);

    // P6.10, clause by clause, written as differently from the code as possible.
    private static LinkOrder ByTheDocument(LinkRank a, LinkRank b)
    {
        bool lower = a.Smaller < b.Smaller || a.Larger < b.Larger;
        bool higher = a.Smaller > b.Smaller || a.Larger > b.Larger;
        return (lower, higher) switch
        {
            (true, _) => LinkOrder.Refused,
            (false, true) => LinkOrder.Newer,
            _ =>
                (a.Nonce, a.DialledBySmaller ? 1 : 0).CompareTo((b.Nonce, b.DialledBySmaller ? 1 : 0)) > 0 ? LinkOrder.Newer
                : LinkOrder.Older,
        };
    }

    // What must hold whatever the table says: two ends that meet the connections in different orders keep the same one.
    private static List<string> Faults(Comparison compare)
    {
        var faults = new List<string>();
        foreach (LinkRank a in Ranks())
            foreach (LinkRank b in Ranks())
            {
                (LinkOrder ab, LinkOrder ba) = (compare(a, b), compare(b, a));
                if (ab != ByTheDocument(a, b)) faults.Add($"{a} / {b}: {ab}");
                if (a != b && ab == LinkOrder.Newer == (ba == LinkOrder.Newer) && ab != LinkOrder.Refused)
                    faults.Add($"{a} / {b}: {ab} and {ba}");
                if (ab == LinkOrder.Newer)
                    faults.AddRange(
                        from c in Ranks()
                            where compare(b, c) == LinkOrder.Newer
                                && compare(a, c) != LinkOrder.Newer select $"{a} / {b} / {c}: not transitive");
            }
        return faults;
    }

    [Fact]
    public void Compare_OfAllPairs_IsTheDocumentsTable() => Assert.Empty(Faults(LinkRank.Compare));

    [Fact]
    public void Control_NonceBeforeEpochs_IsFound() =>
        Assert.NotEmpty(Faults((a, b) => a.Nonce > b.Nonce ? LinkOrder.Newer : LinkRank.Compare(a, b)));

    [Fact]
    public void Control_TieWonByTheCandidate_IsFound() =>
        Assert.NotEmpty(
            Faults(
                (a, b) => a with { DialledBySmaller = true } == b with { DialledBySmaller = true } ? LinkOrder.Newer
                    : LinkRank.Compare(a, b)));

    [Fact]
    public void Compare_OfEqualRanks_KeepsTheStandingOne()
    {
        var rank = new LinkRank(new Epoch(1), new Epoch(1), 1, true);
        Assert.Equal(LinkOrder.Older, LinkRank.Compare(rank, rank));
    }

    [Fact]
    public void NonceAfter_CountsUp_AndRefusesTheLast()
    {
        Assert.Equal(1UL, LinkRank.NonceAfter(0));
        Assert.Equal(ulong.MaxValue, LinkRank.NonceAfter(ulong.MaxValue - 1));
        Assert.Equal("P6.10", Assert.Throws<ProtocolViolation>(() => LinkRank.NonceAfter(ulong.MaxValue)).Section);
    }
}
