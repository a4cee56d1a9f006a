namespace Ambrosia.TestKit.Tests;

public sealed class SimulatedRandomTests
{
    [Fact]
    public void Stream_KnownSeed_IsTheAlgorithmsOwn()
    {
        // xoshiro256** from the SplitMix64 expansion of seed 0: the same numbers as the authors' C code gives.
        var random = new SimulatedRandom(0);
        ulong[] expected = [0x99EC5F36CB75F2B4, 0xBF6E1F784956452A, 0x1A5F849D4933E6E0, 0x6AA594F1262D2D2C];
        Assert.Equal(expected, Enumerable.Range(0, 4).Select(_ => random.NextUInt64()));
    }

    [Fact]
    public void Next_Range_StaysInsideAndReachesAll()
    {
        var random = new SimulatedRandom(1);
        var seen = new HashSet<int>();
        for (int i = 0; i < 1_000; i++) seen.Add(random.Next(-3, 4));
        Assert.Equal([-3, -2, -1, 0, 1, 2, 3], seen.Order());
        Assert.Equal(5, random.Next(5, 5));
        Assert.Throws<ArgumentOutOfRangeException>(() => random.Next(2, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => random.Pick(Array.Empty<int>()));
    }

    [Fact]
    public void NextBytes_AnyLength_IsAPrefixOfTheSameStream()
    {
        byte[] whole = new byte[64];
        new SimulatedRandom(5).NextBytes(whole);
        for (int length = 0; length < 64; length++)
        {
            byte[] part = new byte[length];
            new SimulatedRandom(5).NextBytes(part);
            Assert.Equal(whole[..length], part);
        }
    }

    [Fact]
    public void Split_DrawsFromTheChild_DoNotShiftTheParent()
    {
        SimulatedRandom quiet = new(9), busy = new(9);
        quiet.Split();
        SimulatedRandom child = busy.Split();
        for (int i = 0; i < 10; i++) child.NextUInt64();
        Assert.Equal(quiet.NextUInt64(), busy.NextUInt64());
    }
}
