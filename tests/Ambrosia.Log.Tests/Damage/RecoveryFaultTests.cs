using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A start over what a dead primary left (a tail that nothing states, a torn group, an unfinished checkpoint) meets a failing operation, at
/// each one in turn: it succeeds or ends with an I/O error, takes no error for damage but that of a read which lasts, and the next start
/// finds everything that was acknowledged.
/// </summary>
public sealed class RecoveryFaultTests
{
    private const string Dir = "/data/counter";
    private static readonly LogOptions s_options = Primary.Small with
    {
        SegmentBytes = 48 << 10, PageBytes = 8 << 10, ZeroWindowBytes = 8 << 10
    };

    [Theory]
    [InlineData(FileFault.InputOutput, false)]
    [InlineData(FileFault.InputOutput, true)]
    [InlineData(FileFault.NoSpace, false)]
    [InlineData(FileFault.NoSpace, true)]
    public void Start_AnyOperationFails_NextStartHasEverythingAcknowledged(FileFault fault, bool forGood)
    {
        (SimulatedFileSystem left, List<LoggedRecord> appended, int durable) = Die();
        var failedKinds = new HashSet<FileOperationKind>();
        int failures = 0;
        for (long at = 1; ; at++)
        {
            SimulatedFileSystem disk = left.Copy();
            disk.Faults.FailNth(at, fault, forGood);
            FileOperationKind? failed = TryStart(disk, "first");
            if (disk.Faults.Fired == left.Faults.Fired) break;
            if (failed is { } kind)
            {
                failures++;
                failedKinds.Add(kind);
            }
            disk.Faults.Clear();
            SimulatedFileSystem powerless = disk.Copy();
            powerless.PowerLoss((ulong)at);
            foreach (SimulatedFileSystem after in new[] { disk, powerless })
                CheckStart(after, appended, durable, $"operation {at} failed with {fault}, for good: {forGood}");
        }
        Assert.True(failures > 40, $"{failures} failures");
        Assert.Superset(
            new HashSet<FileOperationKind> { FileOperationKind.Open, FileOperationKind.Write, FileOperationKind.Flush,
                FileOperationKind.FlushDirectory, FileOperationKind.RenameNew }, failedKinds);
    }

    /// <summary>The control: an acknowledged record that is gone is noticed by the same check.</summary>
    [Fact]
    public void CheckStart_RecordTooFew_IsNoticed()
    {
        (SimulatedFileSystem left, List<LoggedRecord> appended, int _) = Die();
        CheckStart(left.Copy(), appended, 0, "healthy");
        Assert.Throws<InvalidOperationException>(() => CheckStart(left.Copy(), appended, appended.Count + 1, "planted"));
    }

    /// <summary>
    /// Starts a process that reads the whole log, and returns the operation whose error ended it, or null. A read that fails for good, and
    /// no other, is damage.
    /// </summary>
    private static FileOperationKind? TryStart(SimulatedFileSystem disk, string id)
    {
        SimulatedProcess process = disk.ForProcess(id);
        try
        {
            using Primary primary = Primary.Start(process, Dir, s_options, "r1");
            LogContent.Read(process, Dir);
            return null;
        }
        catch (SimulatedIOException e)
        {
            return e.Operation.Kind;
        }
        catch (LogDamage e) when (e.Found.StartsWith("simulated EIO", StringComparison.Ordinal))
        {
            return FileOperationKind.Read;
        }
        finally
        {
            process.Kill();
        }
    }

    private static void CheckStart(SimulatedFileSystem disk, List<LoggedRecord> appended, int durable, string what)
    {
        try
        {
            SimulatedProcess process = disk.ForProcess("next");
            using Primary primary = Primary.Start(process, Dir, s_options, "r2");
            List<LoggedRecord> read = LogContent.Read(process, Dir);
            Assert.True(read.Count >= durable, $"{read.Count} records of {durable} that were acknowledged");
            Assert.Equal(appended[..read.Count], read);
            Assert.DoesNotContain(process.List(Dir), static n => n.EndsWith(".tmp", StringComparison.Ordinal));
            process.Kill();
        }
        catch (Exception e)
        {
            throw new InvalidOperationException($"{what}: {e.Message}", e);
        }
    }

    /// <summary>A primary that died in the flush of a group, with two segments behind it, and an unfinished checkpoint.</summary>
    private static (SimulatedFileSystem Disk, List<LoggedRecord> Appended, int Durable) Die()
    {
        var disk = new SimulatedFileSystem(7);
        disk.MakeDirectory("/data");
        SimulatedProcess process = disk.ForProcess("dead");
        var appended = new List<LoggedRecord>();
        int durable;
        using (Primary primary = Primary.Start(process, Dir, s_options))
        {
            while (primary.Log.Chain.Segments.Length < 2 || appended.Count % 20 != 7)
            {
                appended.Add(
                    appended.Count % 9 == 4 ? primary.AppendSpanning(new byte[12_000 + appended.Count])
                    : primary.Append(new byte[900 + 100 * (appended.Count % 20)]));
                primary.Commit();
            }
            durable = appended.Count;
            for (int i = 0; i < 6; i++) appended.Add(primary.Append(new byte[2_600 + i]));
            CommitGroup group = primary.Next()!;
            if (group.NeedsRotation) group.Rotate();
            group.Write();
            disk.Faults.FailNth(1, FileFault.InputOutput);
            Assert.Throws<SimulatedIOException>(group.Flush);
            process.Create($"{Dir}/ckpt.4160.1.r0.r0.1.tmp").Dispose();
        }
        process.Kill();
        disk.Faults.Clear();
        return (disk.Copy(), appended, durable);
    }
}
