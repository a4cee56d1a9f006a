using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

public sealed class FaultTests
{
    private const string Name = "/data/file";

    private readonly SimulatedFileSystem _disk = new(seed: 3);

    public FaultTests() => _disk.WriteAll(Name, new byte[4096]);

    [Theory]
    [InlineData(false, 1)]
    [InlineData(true, 3)]
    public void FailNth_OnceOrForGood_FailsAsOften(bool forGood, int failures)
    {
        _disk.Faults.FailNth(2, FileFault.InputOutput, forGood, static operation => operation.Kind == FileOperationKind.Write);
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        int failed = 0;
        for (int i = 0; i < 4; i++)
        {
            try { file.Write([1], i); }
            catch (SimulatedIOException e) when (e.Fault == FileFault.InputOutput) { failed++; }
        }

        Assert.Equal(failures, failed);
        Assert.Equal(failures, _disk.Faults.Fired);
    }

    [Fact]
    public void FailNth_EachInTurn_EndsWhenTheProgramHasNoMoreOperations()
    {
        int runs = 0;
        for (long nth = 1; ; nth++, runs++)
        {
            SimulatedFileSystem each = _disk.Copy();
            each.Faults.FailNth(nth, FileFault.InputOutput);
            try
            {
                using IFile file = each.Open(Name, FileUse.ReadWrite);
                file.Write([1], 0);
                file.Flush();
            }
            catch (SimulatedIOException)
            {
                continue;
            }

            break;
        }

        Assert.Equal(3, runs);
    }

    [Fact]
    public void Flush_Failed_LaterFlushDoesNotBringTheBlockBack()
    {
        bool lost = false;
        for (ulong seed = 0; seed < 20; seed++)
        {
            SimulatedFileSystem each = _disk.Copy(seed);
            each.Faults.FailNth(1, FileFault.InputOutput, where: static operation => operation.Kind == FileOperationKind.Flush);
            using IFile file = each.Open(Name, FileUse.ReadWrite);
            file.Write([1], 0);
            Assert.Throws<SimulatedIOException>(file.Flush);
            file.Flush();
            Assert.Equal(1, each.ReadAll(Name)[0]);
            each.PowerLoss(seed, PowerLossOptions.LoseAll);
            lost |= each.ReadAll(Name)[0] == 0;
        }

        Assert.True(lost);
    }

    [Fact]
    public void Capacity_Reached_WritesFailWithNoSpaceUntilSomethingIsRemoved()
    {
        _disk.CapacityBytes = 3 * 4096;
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        file.Allocate(0, 3 * 4096);
        Assert.Equal(0, _disk.FreeBytes("/data"));
        file.Write(new byte[4096], 2 * 4096);
        IFile other = _disk.Create("/data/other");
        SimulatedIOException e = Assert.Throws<SimulatedIOException>(() => other.Write([1], 0));
        Assert.Equal(FileFault.NoSpace, e.Fault);
        file.SetLength(4096);
        other.Write([1], 0);
        Assert.Equal(4096, _disk.FreeBytes("/data"));
    }

    /// <summary>A length takes no space, and a write into the hole takes that of its blocks.</summary>
    [Fact]
    public void Capacity_FileLongerThanTheDevice_TakesWhatIsWritten()
    {
        _disk.CapacityBytes = 2 * 4096;
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        file.SetLength(1 << 20);
        long before = file.BytesTaken;
        Assert.Equal(2 * 4096 - before, _disk.FreeBytes("/data"));
        file.Write([1], 900_000);
        Assert.Equal((before + 4096, 1 << 20), (file.BytesTaken, file.Length));
        Assert.Equal(new FileStretch(900_000 / 4096 * 4096, (900_000 / 4096 + 1) * 4096), file.NextData(8192));
        file.Write([2], 900_001); // the same block again
        Assert.Throws<SimulatedIOException>(() => file.Write(new byte[2 * 4096], 500_000));
    }

    [Fact]
    public void Hook_ThrowsCrash_ProcessIsDeadAndItsLastWriteTorn()
    {
        SimulatedProcess process = _disk.ForProcess("p");
        IFile file = process.Open(Name, FileUse.ReadWrite);
        _disk.BeforeOperation = static operation =>
        {
            if (operation.Kind == FileOperationKind.Write) throw new SimulatedCrash("here") { BytesWritten = 2 };
        };
        Assert.Throws<SimulatedCrash>(() => file.Write([7, 7, 7, 7], 0));
        Assert.False(process.IsAlive);
        Assert.Throws<SimulatedCrash>(() => process.Delete(Name));
        Assert.Throws<SimulatedCrash>(() => file.Length);
        file.Dispose();
        Assert.Equal([7, 7, 0, 0], _disk.ReadAll(Name)[..4]);
        Assert.NotSame(process, _disk.ForProcess("p"));
    }

    [Fact]
    public void Hook_CausesPowerLoss_OperationDoesNotHappen()
    {
        using IFile file = _disk.Open(Name, FileUse.ReadWrite);
        _disk.BeforeOperation = operation =>
        {
            _disk.PowerLoss(1);
            throw new SimulatedCrash("power") { BytesWritten = 1 };
        };
        Assert.Throws<SimulatedCrash>(() => file.Write([7], 0));
        Assert.Equal(0, _disk.ReadAll(Name)[0]);
    }

    [Fact]
    public void Damage_DeviceOnly_ShowsWhenTheCacheIsDropped()
    {
        using IFile file = _disk.Open(Name, FileUse.Read);
        _disk.FlipBit(Name, 100, 3, deviceOnly: true);
        byte[] one = new byte[1];
        file.Read(one, 100);
        Assert.Equal(0, one[0]);
        file.DropCache();
        file.Read(one, 100);
        Assert.Equal(8, one[0]);
    }

    [Fact]
    public void Damage_SwapAndOverwrite_ChangeWhatProgramsRead()
    {
        byte[] content = new byte[8192];
        Array.Fill(content, (byte)1, 0, 4096);
        Array.Fill(content, (byte)2, 4096, 4096);
        _disk.WriteAll(Name, content);
        _disk.SwapBlocks(Name, 0, Name, 1);
        _disk.Overwrite(Name, 4094, [9, 9, 9, 9]);
        byte[] left = _disk.ReadAll(Name);
        Assert.Equal([2, 9, 9, 9, 9, 1], left[4093..4099]);
        _disk.PowerLoss(1);
        Assert.Equal(left, _disk.ReadAll(Name));
    }

    [Fact]
    public void Operations_SameSeed_SameTraceAndSameDiskAfterPowerLoss()
    {
        (SimulationTrace firstTrace, byte[] firstLeft) = Walk(11);
        (SimulationTrace secondTrace, byte[] secondLeft) = Walk(11);
        Assert.Null(firstTrace.FirstDifference(secondTrace));
        Assert.Equal(firstLeft, secondLeft);
        Assert.NotNull(firstTrace.FirstDifference(Walk(12).Trace));
    }

    private static (SimulationTrace Trace, byte[] Left) Walk(ulong seed)
    {
        var trace = new SimulationTrace();
        var each = new SimulatedFileSystem(seed) { BeforeOperation = trace.Add };
        each.MakeDirectory("/data");
        var script = new FileScript(each, "/data", seed);
        for (int i = 0; i < 200; i++) trace.Add(script.Step());
        each.PowerLoss(seed);
        return (trace, [.. each.Files().SelectMany(each.ReadAll)]);
    }
}
