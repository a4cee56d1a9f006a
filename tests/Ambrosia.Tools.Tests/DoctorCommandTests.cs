using System.Text.Json;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Diagnosis;

namespace Ambrosia.Tools.Tests;

[Collection(LocksCollection.Name)]
public sealed class DoctorCommandTests
{
    private static readonly string[] s_probes = ["file system", "permissions", "space", "inodes", "writing", "flush", "direct writes",
        "writing over", "holes", "shared locks", "names", "locks", "fence", "clock"];

    [Theory]
    [InlineData("ext4", "rw,relatime", FindingStatus.Ok)]
    [InlineData("ext4", "ro", FindingStatus.Fail)]
    [InlineData("ext4", "rw,nobarrier", FindingStatus.Fail)]
    [InlineData("ext4", "rw,barrier=0", FindingStatus.Fail)]
    [InlineData("ext4", "rw,barrier=1", FindingStatus.Ok)]
    [InlineData("ext4", "rw,data=writeback", FindingStatus.Warn)]
    [InlineData("ext4", "rw,data=ordered", FindingStatus.Ok)]
    [InlineData("xfs", "rw,sync", FindingStatus.Warn)]
    [InlineData("f2fs", "rw,fsync_mode=nobarrier", FindingStatus.Fail)]
    [InlineData("tmpfs", "rw", FindingStatus.Fail)]
    [InlineData("overlay", "rw,lowerdir=/l", FindingStatus.Warn)]
    [InlineData("overlay", "rw,volatile", FindingStatus.Fail)]
    [InlineData("overlay", "rw,fsync=volatile", FindingStatus.Fail)] // as newer kernels show it
    [InlineData("nfs4", "rw,hard", FindingStatus.Warn)]
    [InlineData("nfs4", "rw,hard,nolock,noac", FindingStatus.Fail)]
    [InlineData("nfs", "rw,local_lock=all,noac", FindingStatus.Fail)]
    [InlineData("nfs4", "rw,hard,noac", FindingStatus.Ok)]
    [InlineData("nfs4", "rw,soft,actimeo=0", FindingStatus.Warn)]
    [InlineData("cifs", "rw,nobrl,actimeo=0", FindingStatus.Fail)]
    [InlineData("cifs", "rw,cache=loose,actimeo=0", FindingStatus.Fail)]
    [InlineData("smb3", "rw,cache=strict,actimeo=1", FindingStatus.Warn)]
    [InlineData("cifs", "rw,cache=strict,actimeo=0", FindingStatus.Ok)]
    [InlineData("9p", "rw,cache=loose", FindingStatus.Fail)]
    [InlineData("9p", "rw,cache=none", FindingStatus.Warn)]
    [InlineData("virtiofs", "rw", FindingStatus.Warn)]
    [InlineData("lustre", "rw,localflock", FindingStatus.Fail)]
    [InlineData("lustre", "rw,flock", FindingStatus.Ok)]
    [InlineData("fuse.sshfs", "rw", FindingStatus.Fail)]
    [InlineData("fuse.s3fs", "rw", FindingStatus.Fail)]
    [InlineData("fuse.something", "rw", FindingStatus.Warn)]
    [InlineData("vfat", "rw", FindingStatus.Fail)]
    [InlineData("newfs", "rw", FindingStatus.Warn)]
    internal void Mount_ByTypeAndOptions_IsJudged(string type, string options, FindingStatus worst)
    {
        MountPoint mount = MountTable.Parse($"1 0 0:1 / /data rw,relatime - {type} source {options}\n").Find("/data/log")!;
        Finding[] findings = [.. FileSystemCheck.Run(mount), .. MountOptionCheck.Run(mount)];

        Assert.Equal(worst, findings.Max(static finding => finding.Status));
        Assert.All(findings.Where(static finding => finding.Status != FindingStatus.Ok),
            static finding => Assert.True(finding.Why?.Length > 0 && finding.Mend?.Length > 0));
    }

    [Fact]
    public void Probes_OfAFileSystemThatHolds_FindNothing()
    {
        var disk = new SimulatedFileSystem();
        disk.MakeDirectory("/probe");
        Assert.Equal(FindingStatus.Ok, HoleCheck.Run(disk, "/probe").Status);
        Assert.Equal(FindingStatus.Ok, OpeningCheck.Run(disk, "/probe").Status);
        Assert.Equal(FindingStatus.Ok, OverwriteCheck.Judge(isInPlace: true).Status);
        Assert.Equal(FindingStatus.Warn, OverwriteCheck.Judge(isInPlace: false).Status);
    }

    [Fact]
    public void HoleCheck_WrittenBlockIsCalledAHole_Fails()
    {
        var disk = new SimulatedFileSystem();
        disk.MakeDirectory("/probe");
        disk.BeforeOperation = operation =>
        {
            if (operation is { Kind: FileOperationKind.Flush }) disk.TakeForHole("/probe/holes", 512 << 10, 1);
        };
        Finding found = HoleCheck.Run(disk, "/probe");
        Assert.Equal(FindingStatus.Fail, found.Status);
        Assert.Contains("524288", found.What, StringComparison.Ordinal);
    }

    [Fact]
    public void MountTable_DeepestAndLastMount_IsTheOneOfAPath()
    {
        MountTable table = MountTable.Parse(
            "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
            + "30 27 0:5 / /data rw master:1 shared:7 - xfs /dev/b rw\n"
            + "31 30 0:6 / /data rw - nfs4 host:/x rw,noac\n"
            + "32 27 0:7 / /a\\040b rw - btrfs /dev/c rw,subvol=/x\n"
            + "no line at all\n");

        Assert.Equal("nfs4", table.Find("/data/log")!.Type);
        Assert.Equal("nfs4", table.Find("/data")!.Type);
        Assert.Equal("ext4", table.Find("/database")!.Type);
        Assert.Equal("btrfs", table.Find("/a b/log")!.Type);
        Assert.Equal("/x", table.Find("/a b")!.ValueOf("subvol"));
        Assert.Null(MountTable.Parse("").Find("/data"));
        Assert.Equal(FindingStatus.Warn, Assert.Single(FileSystemCheck.Run(null)).Status);
    }

    [Fact]
    public void Flush_ByItsTime_IsJudged()
    {
        Assert.Equal(FindingStatus.Ok,
            FlushCheck.Judge(TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(9), isMemory: false).Status);
        Assert.Equal(FindingStatus.Warn,
            FlushCheck.Judge(TimeSpan.FromMicroseconds(1), TimeSpan.FromMicroseconds(9), isMemory: false).Status);
        Assert.Equal(FindingStatus.Warn,
            FlushCheck.Judge(TimeSpan.FromMilliseconds(40), TimeSpan.FromMilliseconds(90), isMemory: false).Status);
    }

    [Fact]
    public void SpaceAndClock_ByTheirValues_AreJudged()
    {
        Assert.Equal(FindingStatus.Fail, SpaceCheck.Judge(1 << 20, 0, 0).Max(static finding => finding.Status));
        Assert.Equal(FindingStatus.Warn, SpaceCheck.Judge(1L << 30, 0, 0).Max(static finding => finding.Status));
        Assert.Equal(FindingStatus.Ok, SpaceCheck.Judge(1L << 40, 1_000_000, 500_000).Max(static finding => finding.Status));
        Assert.Equal(FindingStatus.Warn, SpaceCheck.Judge(1L << 40, 1_000_000, 3).Max(static finding => finding.Status));
        var now = new DateTimeOffset(2026, 11, 21, 0, 0, 0, TimeSpan.Zero);
        Assert.Equal(FindingStatus.Ok, ClockCheck.Judge(now, now.AddDays(-3)).Status);
        Assert.Equal(FindingStatus.Warn, ClockCheck.Judge(now, now.AddHours(1)).Status);
        Assert.Equal(FindingStatus.Warn, ClockCheck.Judge(now.AddYears(-30), null).Status);
    }

    [Fact]
    public void Doctor_PlaceThatIsNotThereYet_IsProbedAboveAndLeftAsItWas()
    {
        using var temporary = new TemporaryDirectory();
        ToolRun run = ToolRun.Of("doctor", temporary.Of("deep/log"), "--json");

        JsonElement report = run.Json;
        Assert.False(report.GetProperty("isThere").GetBoolean());
        JsonElement[] findings = [.. report.GetProperty("findings").EnumerateArray()];
        foreach (string probe in s_probes) Assert.Contains(findings, finding => finding.GetProperty("check").GetString() == probe);
        foreach (string probe in (string[])["names", "locks", "fence", "writing"])
            Assert.Equal("ok",
                findings.Single(finding => finding.GetProperty("check").GetString() == probe).GetProperty("status").GetString());
        Assert.StartsWith(temporary.Path, report.GetProperty("probed").GetString());
        Assert.Empty(Directory.EnumerateFileSystemEntries(temporary.Path));
        Assert.Equal(report.GetProperty("status").GetString() == "fail" ? ToolExit.Damage : ToolExit.Fine, run.Code);
    }

    [Fact]
    public void Doctor_LogOpenToOthers_Fails()
    {
        using var temporary = new TemporaryDirectory();
        string log = temporary.Of("counter");
        LogMaker.Start(log).Dispose();
        Assert.Equal("ok", Permissions(log));
        File.SetUnixFileMode(Path.Combine(log, "instance"), UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.OtherRead);
        ToolRun run = ToolRun.Of("doctor", log);
        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("mend: chmod 600", run.Output);
        File.SetUnixFileMode(Path.Combine(log, "instance"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
        File.SetUnixFileMode(log, File.GetUnixFileMode(log) | UnixFileMode.OtherExecute);
        Assert.Equal("fail", Permissions(log));
    }

    [Fact]
    public void Doctor_AFile_IsMisuse()
    {
        using var temporary = new TemporaryDirectory();
        File.WriteAllText(temporary.Of("file"), "");
        Assert.Equal(ToolExit.Misuse, ToolRun.Of("doctor", temporary.Of("file")).Code);
    }

    /// <summary>This is a negative control: when somebody else holds the probe's lock, the check does not say that all is well.</summary>
    [Fact]
    public void Locks_ThatTheSecondProcessCannotGet_AreNotOk()
    {
        using var temporary = new TemporaryDirectory();
        using IFileLock? held = new PosixFileSystem().TryLock(temporary.Of(LockProbeProcess.HeldName));
        Assert.NotNull(held);
        Assert.DoesNotContain(LockCheck.Run(temporary.Path), static finding => finding.Status == FindingStatus.Ok);
    }

    private static string Permissions(string log) => ToolRun.Of("doctor", log, "--json").Json.GetProperty("findings").EnumerateArray()
        .First(static finding => finding.GetProperty("check").GetString() == "permissions").GetProperty("status").GetString()!;
}
