namespace Ambrosia.Protocol.Tests;

/// <summary>Every vector against every decoder: whole, cut at every position, written again.</summary>
public sealed class VectorTests
{
    [Fact]
    public void Vectors_Whole_DecodeAsTheySay() => AssertNone(VectorWalk.Whole(VectorFiles.All, AllStructures.ByName));

    [Fact]
    public void Vectors_CutAtEveryPosition_AreRefusedByType() => AssertNone(VectorWalk.Cut(VectorFiles.All, AllStructures.ByName));

    [Fact]
    public void Vectors_WrittenAgain_AreTheSameBytes() => AssertNone(VectorWalk.Reencoded(VectorFiles.All, AllStructures.ByName));

    [Fact]
    public void Vectors_OfEveryStructure_HaveGoodAndBadOnes()
    {
        foreach ((string name, Structure structure) in AllStructures.ByName)
        {
            Assert.Contains(VectorFiles.All, v => v.Structure == name && v.Expect is not null);
            bool refusesSomething = structure.Ends != Ends.NotDecoded && name is not ("timeSpan" or "uint64");
            if (refusesSomething) Assert.Contains(VectorFiles.All, v => v.Structure == name && v.Error is not null);
        }
    }

    private static void AssertNone(List<string> findings) => Assert.True(findings.Count == 0, string.Join('\n', findings.Take(20)));
}
