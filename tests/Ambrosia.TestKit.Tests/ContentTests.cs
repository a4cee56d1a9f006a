using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

/// <summary>What a power loss may do to content, and what it may not.</summary>
public sealed class ContentTests
{
    private const int BlockBytes = 4096;
    private const string Name = "/data/file";

    private readonly SimulatedFileSystem _disk = new();

    [Fact]
    public void Content_RandomWrites_EqualsAPlainArray()
    {
        var random = new SimulatedRandom(7);
        _disk.WriteAll(Name, []);
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        byte[] model = [];
        for (int i = 0; i < 1_000; i++)
        {
            int offset = random.Next(40_000);
            byte[] bytes = new byte[random.Next(1, 10_000)];
            random.NextBytes(bytes);
            if (random.Chance(20))
            {
                file.SetLength(offset);
                Array.Resize(ref model, offset);
            }

            file.Write(bytes, offset);
            if (offset + bytes.Length > model.Length) Array.Resize(ref model, offset + bytes.Length);
            bytes.CopyTo(model, offset);
            if (random.Chance(10)) file.Flush();
            Assert.Equal(model.Length, file.Length);
            Assert.Equal(model, _disk.ReadAll(Name));
        }
    }

    [Fact]
    public void Flush_AnyPowerLossAfterwards_ContentSurvives()
    {
        for (ulong seed = 0; seed < 300; seed++)
        {
            SimulatedFileSystem each = new(seed);
            var random = new SimulatedRandom(seed);
            each.WriteAll(Name, []);
            using IFile file = each.Open(Name, FileUse.ReadWrite);
            for (int i = random.Next(1, 6); i > 0; i--) WriteOrCut(file, random);
            file.Flush();
            byte[] flushed = each.ReadAll(Name);
            each.PowerLoss(seed);
            Assert.Equal(flushed, each.ReadAll(Name));
        }
    }

    [Fact]
    public void PowerLoss_ThreeDirtyBlocks_EverySubsetIsReached()
    {
        _disk.WriteAll(Name, new byte[3 * BlockBytes]);
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        for (int block = 0; block < 3; block++) file.Write(Filled(1, BlockBytes), block * BlockBytes);
        var subsets = new HashSet<(byte, byte, byte)>();
        for (ulong seed = 0; seed < 200; seed++)
        {
            SimulatedFileSystem after = _disk.Copy();
            after.PowerLoss(seed, new PowerLossOptions { TornSectors = false });
            byte[] left = after.ReadAll(Name);
            Assert.All(left.Chunk(BlockBytes), static block => Assert.Single(block.Distinct()));
            subsets.Add((left[0], left[BlockBytes], left[2 * BlockBytes]));
        }

        Assert.Equal(8, subsets.Count);
    }

    [Fact]
    public void PowerLoss_TornSectors_TearsAt512BytesOnly()
    {
        _disk.WriteAll(Name, new byte[BlockBytes]);
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        file.Write(Filled(1, BlockBytes), 0);
        bool torn = false;
        for (ulong seed = 0; seed < 200; seed++)
        {
            SimulatedFileSystem after = _disk.Copy();
            after.PowerLoss(seed);
            byte[] left = after.ReadAll(Name);
            Assert.All(left.Chunk(512), static sector => Assert.Single(sector.Distinct()));
            torn |= left.Distinct().Count() == 2;
        }

        Assert.True(torn);
    }

    [Fact]
    public void PowerLoss_FileGrew_LengthAndBlocksSurviveApart()
    {
        _disk.WriteAll(Name, []);
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        file.Write(Filled(1, BlockBytes), 0);
        file.Write(Filled(2, BlockBytes), BlockBytes);
        var seen = new HashSet<(int Length, int First, int Second)>();
        for (ulong seed = 0; seed < 300; seed++)
        {
            SimulatedFileSystem after = _disk.Copy();
            after.PowerLoss(seed, new PowerLossOptions { TornSectors = false });
            byte[] left = after.ReadAll(Name);
            seen.Add((left.Length, left.ElementAtOrDefault(0), left.ElementAtOrDefault(BlockBytes)));
        }

        Assert.Contains((0, 0, 0), seen);
        Assert.Contains((BlockBytes, 0, 0), seen);
        Assert.Contains((BlockBytes, 1, 0), seen);
        Assert.Contains((2 * BlockBytes, 0, 2), seen);
        Assert.Contains((2 * BlockBytes, 1, 2), seen);
    }

    [Fact]
    public void PowerLoss_CutNotFlushed_OldContentIsWholeOrGone()
    {
        _disk.WriteAll(Name, Filled(9, 2 * BlockBytes));
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        file.SetLength(0);
        file.Write(Filled(1, BlockBytes), BlockBytes);
        var seen = new HashSet<(int Length, int First, int Second)>();
        for (ulong seed = 0; seed < 300; seed++)
        {
            SimulatedFileSystem after = _disk.Copy();
            after.PowerLoss(seed, new PowerLossOptions { TornSectors = false });
            byte[] left = after.ReadAll(Name);
            seen.Add((left.Length, left.ElementAtOrDefault(0), left.ElementAtOrDefault(BlockBytes)));
        }

        // Without the cut all is old; with it the old bytes never show again, whatever becomes of the write after it.
        (int, int, int)[] allowed = [(2 * BlockBytes, 9, 9), (0, 0, 0), (2 * BlockBytes, 0, 0), (2 * BlockBytes, 0, 1)];
        Assert.Equal(allowed.Order(), seen.Order());
    }

    [Fact]
    public void Kill_NothingFlushed_PageCacheKeepsAll()
    {
        _disk.MakeDirectory("/data");
        SimulatedProcess process = _disk.ForProcess("p");
        IFile file = process.Create(Name);
        file.Write(Filled(5, 10_000), 0);
        process.Kill();
        Assert.Equal(Filled(5, 10_000), _disk.ReadAll(Name));
        Assert.Throws<SimulatedCrash>(() => file.Write([1], 0));
        file.Dispose();
    }

    [Fact]
    public void Copy_Changed_LeavesTheOriginalAlone()
    {
        _disk.WriteAll(Name, Filled(1, 100));
        SimulatedFileSystem copy = _disk.Copy();
        copy.WriteAll(Name, Filled(2, 50));
        copy.Delete(Name);
        Assert.Equal(Filled(1, 100), _disk.ReadAll(Name));
    }

    private static void WriteOrCut(IFile file, SimulatedRandom random)
    {
        if (random.Chance(30)) file.SetLength(random.Next(30_000));
        else file.Write(Filled((byte)random.Next(1, 256), random.Next(1, 9_000)), random.Next(30_000));
    }

    private static byte[] Filled(byte value, int count)
    {
        byte[] bytes = new byte[count];
        Array.Fill(bytes, value);
        return bytes;
    }
}
