using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

/// <summary>
/// The disk's purpose, on the smallest program that has something to lose: replace a file's content, then say that it is done. The right
/// order passes at every operation and seed; each planted bug is found. These are the disk's negative controls.
/// </summary>
public sealed class DurableWriterTests
{
    private const string Target = "/data/value", Temporary = "/data/value.tmp";

    private static readonly byte[] s_old = [1, 1, 1, 1];
    private static readonly byte[] s_new = [2, 2, 2, 2, 2, 2];

    public enum Bug
    {
        None,
        NoFileFlush,
        NoDirectoryFlush,
        SaysDoneBeforeTheDirectoryFlush,
        WritesInPlace,
        TriesAFailedFlushAgain,
    }

    [Fact]
    public void RightOrder_CrashAtEveryOperation_OldOrNewAndNeverLessThanSaid() => Assert.Null(FirstBroken(Bug.None));

    [Theory]
    [InlineData(Bug.NoFileFlush)]
    [InlineData(Bug.NoDirectoryFlush)]
    [InlineData(Bug.SaysDoneBeforeTheDirectoryFlush)]
    [InlineData(Bug.WritesInPlace)]
    [InlineData(Bug.TriesAFailedFlushAgain)]
    public void PlantedBug_CrashAtEveryOperation_IsFound(Bug bug) => Assert.NotNull(FirstBroken(bug));

    /// <summary>The first crash that breaks the promise, as a line that repeats it; null when none does.</summary>
    private static string? FirstBroken(Bug bug)
    {
        for (ulong seed = 0; seed < 40; seed++)
        {
            for (int at = 1; at <= 8; at++)
            {
                if (Broken(bug, seed, at) is { } how) return $"{bug} seed {seed} operation {at}: {how}";
            }
        }

        return null;
    }

    private static string? Broken(Bug bug, ulong seed, int crashAt)
    {
        var disk = new SimulatedFileSystem(seed);
        disk.WriteAll(Target, s_old);
        if (seed % 2 == 1)
            disk.Faults.FailNth(1, FileFault.InputOutput, where: static operation => operation.Kind == FileOperationKind.Flush);
        disk.BeforeOperation = operation =>
        {
            if (operation.Index == crashAt) throw new SimulatedCrash("power");
        };
        bool done = false;
        try
        {
            Replace(disk.ForProcess("writer"), bug, () => done = true);
        }
        catch (Exception e) when (e is SimulatedCrash or SimulatedIOException)
        {
            // Both end the program; what matters is what it had said.
        }

        disk.BeforeOperation = null;
        disk.PowerLoss(seed);
        byte[] left = disk.ReadAll(Target);
        if (left.AsSpan().SequenceEqual(s_new)) return null;
        if (!left.AsSpan().SequenceEqual(s_old)) return $"neither old nor new: {Convert.ToHexString(left)}";
        return done ? "said to be done, and lost" : null;
    }

    private static void Replace(IFileSystem files, Bug bug, Action done)
    {
        string path = bug == Bug.WritesInPlace ? Target : Temporary;
        using (IFile file = bug == Bug.WritesInPlace ? files.Open(path, FileUse.ReadWrite) : files.Create(path))
        {
            file.Write(s_new, 0);
            if (bug == Bug.TriesAFailedFlushAgain) FlushUntilItWorks(file);
            else if (bug != Bug.NoFileFlush) file.Flush();
        }

        if (path != Target) files.Rename(path, Target);
        if (bug == Bug.SaysDoneBeforeTheDirectoryFlush) done();
        if (bug != Bug.NoDirectoryFlush) files.FlushDirectory("/data");
        done();
    }

    private static void FlushUntilItWorks(IFile file)
    {
        while (true)
        {
            try
            {
                file.Flush();
                return;
            }
            catch (SimulatedIOException)
            {
                // The planted bug: after a failed flush the cache calls the blocks clean, so the next one succeeds and writes nothing.
            }
        }
    }
}
