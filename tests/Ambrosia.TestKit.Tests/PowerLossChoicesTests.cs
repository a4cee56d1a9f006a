using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

/// <summary>Every outcome of a power loss comes, none that a drawn power loss never has, and none that contradicts a flush.</summary>
public sealed class PowerLossChoicesTests
{
    private const int BlockBytes = 4096;
    private readonly SimulatedFileSystem _disk = new();

    public PowerLossChoicesTests() => _disk.MakeDirectory("/data");

    [Fact]
    public void PowerLoss_NothingUnflushed_HasOneOutcome()
    {
        _disk.WriteAll("/data/a", [1, 2]);
        Assert.Equal(["a=1,2"], Outcomes(out long count));
        Assert.Equal(1, count);
    }

    [Fact]
    public void PowerLoss_BlocksOfAFile_AnySubsetAndAnyVersion()
    {
        _disk.WriteAll("/data/a", new byte[3 * BlockBytes]);
        using IFile file = _disk.Open("/data/a", FileUse.ReadWrite);
        for (int block = 0; block < 3; block++) file.Write(Filled(1), block * BlockBytes);
        file.Write(Filled(2), 0);
        file.Write(Filled(1), BlockBytes); // the same again is no outcome of its own
        IEnumerable<string> expected = from a in (int[])[0, 1, 2] from b in (int[])[0, 1] from c in (int[])[0, 1] select $"a={a}:{b}:{c}";
        Assert.Equal(expected.Order(StringComparer.Ordinal), Outcomes(out long count));
        Assert.Equal(12, count);
        file.Flush();
        Assert.Equal(["a=2:1:1"], Outcomes(out _));
    }

    [Fact]
    public void PowerLoss_NamesAndLengths_AreThoseThatADrawnOneHas()
    {
        _disk.WriteAll("/data/name", [1]);
        using IFile made = _disk.Create("/data/new"), cut = _disk.Open("/data/name", FileUse.ReadWrite);
        made.Write(Filled(3), 0);
        made.Write(Filled(4), BlockBytes);
        cut.SetLength(0);
        _disk.Rename("/data/new", "/data/name");
        var drawn = new SortedSet<string>(StringComparer.Ordinal);
        for (ulong seed = 0; seed < 10_000; seed++)
        {
            SimulatedFileSystem after = _disk.Copy();
            after.PowerLoss(seed, new PowerLossOptions { TornSectors = false });
            drawn.Add(Describe(after));
        }
        SortedSet<string> all = Outcomes(out _);
        Assert.Empty(drawn.Except(all));
        Assert.Empty(all.Except(drawn));
        Assert.True(drawn.Count > 10, $"{drawn.Count} outcomes");
    }

    [Fact]
    public void Next_FromAnotherState_IsNoticed()
    {
        _disk.WriteAll("/data/a", new byte[BlockBytes]);
        using IFile file = _disk.Open("/data/a", FileUse.ReadWrite);
        file.Write(Filled(1), 0);
        var choices = new PowerLossChoices();
        _disk.Copy().PowerLoss(choices);
        Assert.True(choices.Next());
        file.Write(Filled(2), 0);
        Assert.Throws<InvalidOperationException>(() => _disk.Copy().PowerLoss(choices));
    }

    private static byte[] Filled(byte with)
    {
        byte[] block = new byte[BlockBytes];
        Array.Fill(block, with);
        return block;
    }

    private static string Describe(SimulatedFileSystem after) =>
        string.Join(' ', after.List("/data").Select(name => $"{name}={Describe(after.ReadAll($"/data/{name}"))}"));

    private static string Describe(byte[] content) =>
        content.Length < BlockBytes ? string.Join(',', content)
        : string.Join(':', content.Chunk(BlockBytes).Select(static block => block.Distinct().Single()));

    private SortedSet<string> Outcomes(out long count)
    {
        var seen = new SortedSet<string>(StringComparer.Ordinal);
        var choices = new PowerLossChoices();
        do
        {
            SimulatedFileSystem after = _disk.Copy();
            after.PowerLoss(choices);
            seen.Add(Describe(after));
        }
        while (choices.Next());
        count = choices.Count;
        return seen;
    }
}
