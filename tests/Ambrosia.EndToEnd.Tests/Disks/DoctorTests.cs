using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The doctor on disks that no log should stand on: it says so and why, and never fails itself.</summary>
public sealed class DoctorTests
{
    private const int DiskMebibytes = 1, LeftBytes = 24 << 10;

    [MountFact]
    public void Doctor_MemoryWithoutRoom_SaysWhatIsMissing() => Run(static (disk, log) =>
    {
        File.WriteAllBytes(Path.Combine(Path.GetDirectoryName(log)!, "fill"), new byte[(DiskMebibytes << 20) - LeftBytes]);
        JsonElement[] findings = FailingChecks(log);
        Assert.Equal(["file system", "space", "flush", "writing over", "holes"], findings.Select(CheckOf)); // their probes find no room
        Assert.Contains("no room for the probe", findings[2].GetProperty("why").GetString());
    });

    [MountFact]
    public void Doctor_DiskThatCannotBeWritten_SaysSo() => Run(static (disk, log) =>
    {
        disk.MakeReadOnly();
        Assert.Equal(["file system", "mount options", "space", "writing"], FailingChecks(log).Select(CheckOf));
    });

    private static void Run(Action<SmallDisk, string> test)
    {
        string place = Directory.CreateTempSubdirectory("ambrosia-doctor-").FullName;
        try
        {
            using var disk = new SmallDisk(place, DiskMebibytes);
            test(disk, Path.Combine(place, "log"));
        }
        finally
        {
            Directory.Delete(place, recursive: true);
        }
    }

    private static JsonElement[] FailingChecks(string log)
    {
        Tool doctor = Tool.Run("doctor", log, "--json");
        Assert.True(doctor.Code == 1, doctor.Output + doctor.Error);
        JsonElement[] failing = [
            .. doctor.Json.GetProperty("findings").EnumerateArray().Where(static each => each.GetProperty("status").GetString() == "fail")];
        Assert.All(failing,
            static each =>
                Assert.True(each.GetProperty("why").GetString()?.Length > 0 && each.GetProperty("mend").GetString()?.Length > 0));
        return failing;
    }

    private static string CheckOf(JsonElement finding) => finding.GetProperty("check").GetString()!;
}
