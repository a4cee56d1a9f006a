using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

/// <summary>What a power loss may do to names, and what it may not.</summary>
public sealed class NameTests
{
    private readonly SimulatedFileSystem _disk = new();

    public NameTests() => _disk.MakeDirectory("/data");

    [Fact]
    public void Create_DirectoryNotFlushed_FlushedFileMayVanish()
    {
        using (IFile file = _disk.Create("/data/a")) file.Flush();
        Assert.Equal([false, true], Outcomes(static after => after.Exists("/data/a")));
    }

    [Fact]
    public void Create_DirectoryFlushed_NameSurvives()
    {
        _disk.Create("/data/a").Dispose();
        _disk.FlushDirectory("/data");
        Assert.Equal([true], Outcomes(static after => after.Exists("/data/a")));
    }

    [Fact]
    public void CreateDirectory_ParentNotFlushed_MayVanishWithWhatIsInIt()
    {
        _disk.CreateDirectory("/data/sub");
        _disk.Create("/data/sub/a").Dispose();
        _disk.FlushDirectory("/data/sub");
        Assert.Equal([false, true], Outcomes(static after => after.Exists("/data/sub/a")));
        _disk.FlushDirectory("/data");
        Assert.Equal([true], Outcomes(static after => after.Exists("/data/sub/a")));
    }

    [Fact]
    public void Rename_NotFlushed_IsAtomicInEveryPowerLoss()
    {
        _disk.WriteAll("/data/new", [2]);
        _disk.WriteAll("/data/name", [1]);
        _disk.Rename("/data/new", "/data/name");
        Assert.Equal(["name=1 new=2", "name=2"], Outcomes(Describe));
    }

    [Fact]
    public void Rename_DirectoryFlushed_Survives()
    {
        _disk.WriteAll("/data/new", [2]);
        _disk.WriteAll("/data/name", [1]);
        _disk.Rename("/data/new", "/data/name");
        _disk.FlushDirectory("/data");
        Assert.Equal(["name=2"], Outcomes(Describe));
    }

    [Fact]
    public void Rename_OfAnUnflushedFile_NameMayComeWithoutContent()
    {
        using (IFile file = _disk.Create("/data/new")) file.Write([7], 0);
        _disk.Rename("/data/new", "/data/name");
        _disk.FlushDirectory("/data");
        Assert.Equal(["name=", "name=0", "name=7"], Outcomes(Describe));
    }

    [Fact]
    public void Names_TwoUnflushedOperations_AnySubsetButInOrderIfAsked()
    {
        _disk.Create("/data/a").Dispose();
        _disk.Create("/data/b").Dispose();
        Assert.Equal(["", "a=", "a= b=", "b="], Outcomes(Describe));
        Assert.Equal(["", "a=", "a= b="], Outcomes(Describe, new PowerLossOptions { OrderedNames = true }));
    }

    [Fact]
    public void Names_OperationWithoutWhatItRestsOn_IsLostToo()
    {
        _disk.Create("/data/a").Dispose();
        _disk.Rename("/data/a", "/data/b");
        Assert.Equal(["", "a=", "b="], Outcomes(Describe));
    }

    [Fact]
    public void Rename_AcrossDirectories_FlushOfEitherMakesItDurable()
    {
        _disk.MakeDirectory("/other");
        _disk.Create("/data/a").Dispose();
        _disk.Rename("/data/a", "/other/a");
        _disk.FlushDirectory("/other");
        Assert.Equal(["/other/a"], Outcomes(static after => string.Join(' ', after.Files())));
    }

    [Fact]
    public void Delete_OpenFile_StaysReadableUntilClosed()
    {
        _disk.WriteAll("/data/a", [1, 2, 3]);
        using IFile file = _disk.Open("/data/a", FileUse.Read);
        _disk.Delete("/data/a");
        byte[] buffer = new byte[3];
        Assert.Equal(3, file.Read(buffer, 0));
        Assert.False(_disk.Exists("/data/a"));
    }

    [Fact]
    public void Link_OneFlushed_ContentIsThatOfBoth()
    {
        _disk.WriteAll("/data/a", [1]);
        Assert.True(_disk.TryLink("/data/a", "/data/b"));
        Assert.False(_disk.TryLink("/data/a", "/data/b"));
        _disk.Delete("/data/a");
        _disk.FlushDirectory("/data");
        Assert.Equal(["b=1"], Outcomes(Describe));
    }

    [Fact]
    public void Names_WrongUse_SaysWhat()
    {
        _disk.WriteAll("/data/a", []);
        Assert.Throws<FileExistsException>(() => _disk.Create("/data/a"));
        Assert.Throws<FileNotFoundException>(() => _disk.Open("/data/none", FileUse.Read));
        Assert.Throws<DirectoryNotFoundException>(() => _disk.Create("/none/a"));
        Assert.Throws<FileNotFoundException>(() => _disk.TryRenameNew("/data/none", "/data/b"));
        Assert.Throws<ArgumentException>(() => _disk.Exists("relative"));
        Assert.Empty(_disk.List("/none"));
        _disk.Delete("/data/none");
    }

    private static string Describe(SimulatedFileSystem after) =>
        string.Join(' ', after.List("/data").Select(name => $"{name}={string.Join(',', after.ReadAll($"/data/{name}"))}"));

    /// <summary>What is found after many power losses from this moment, sorted.</summary>
    private T[] Outcomes<T>(Func<SimulatedFileSystem, T> look, PowerLossOptions? options = null)
    {
        var seen = new SortedSet<T>();
        for (ulong seed = 0; seed < 200; seed++)
        {
            SimulatedFileSystem after = _disk.Copy();
            after.PowerLoss(seed, options);
            seen.Add(look(after));
        }

        return [.. seen];
    }
}
