using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The Nth operation of a checkpoint fails: nothing that is not whole ever has its name; a full disk costs that one and no more, any
/// other error ends the process.
/// </summary>
public sealed class CheckpointTakerTests
{
    private readonly OpenedLog log = new();
    private readonly List<string> failed = [];
    private readonly List<CheckpointFileName> published = [];
    private readonly List<Lsn> computed = [];
    private ulong lsn;

    /// <summary>
    /// The image of a mark that names another replica is compared: no file is made, and nothing is said of it, not even
    /// when the app lies about it.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Step_JobOfAnotherReplica_IsOnlyCompared(bool isLie)
    {
        using CheckpointTaker taker = Taker(isOurs: false);
        long operations = log.Disk.Operations;
        Take(taker, isLie);
        Assert.Equal(operations, log.Disk.Operations);
        Assert.Empty(failed);
        Assert.Equal(isLie ? [] : [new Lsn(lsn)], computed);
    }

    /// <summary>What came to nothing in the middle is still compared to its end, and said to have failed once.</summary>
    [Fact]
    public void Step_DiskFullInTheMiddle_TheRestIsCompared()
    {
        using CheckpointTaker taker = Taker();
        log.Disk.Faults.FailNth(2, FileFault.NoSpace, forGood: true, static o => o.Kind == FileOperationKind.Write);
        Take(taker);
        Take(taker, isLie: true);
        Assert.Equal(2, failed.Count);
        Assert.Equal([new Lsn(1)], computed);
        Assert.Empty(published);
    }

    /// <summary>However the app cuts its image: what waits for the disk is bounded, and all of it arrives.</summary>
    [Theory]
    [InlineData(1_000)]
    [InlineData(100_000)]
    [InlineData(ImageChunk.BytesMax)]
    public void Chunk_NobodyWrites_TakesSoMuchAndNoMore(int chunkBytes)
    {
        using CheckpointTaker taker = Taker();
        byte[] image = new byte[4 << 20];
        new Random(1).NextBytes(image);
        lsn++;
        Assert.True(taker.Begin(new ImageBegin(new Lsn(lsn), 0), isWanted: true, static _ => { }));
        int taken = 0;
        while (taker.Chunk(image.AsSpan(taken, chunkBytes))) taken += chunkBytes;
        Assert.InRange(taken, ImageChunk.BytesMax, ImageBuffers.CountMax * ImageBuffers.BufferBytes);
        Assert.False(taker.Chunk(image.AsSpan(taken, chunkBytes)));
        while (taken < image.Length)
        {
            int next = Math.Min(chunkBytes, image.Length - taken);
            if (taker.Chunk(image.AsSpan(taken, next))) taken += next;
            else Assert.True(taker.Step());
        }
        Assert.True(taker.End(new ImageEnd((ulong)image.Length, ChannelHash.Append(0, image))));
        while (taker.Step()) { }
        Assert.Empty(failed);
        using CheckpointReader reader = CheckpointReader.Open(log.Disk, $"{OpenedLog.Directory}/{Assert.Single(published)}", log.Identity);
        Assert.Equal(ChannelHash.Append(0, image), reader.ImageHash);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Step_DiskFullAtAnyWrite_GivesItUpAndTakesTheNext(bool forGood)
    {
        int failures = 0;
        for (int at = 1; ; at++)
        {
            using CheckpointTaker taker = Taker();
            log.Disk.Faults.FailNth(at, FileFault.NoSpace, forGood,
                static o =>
                    o.Kind is FileOperationKind.Create or FileOperationKind.Write or FileOperationKind.Allocate
                        or FileOperationKind.SetLength or FileOperationKind.Flush);
            long fired = log.Disk.Faults.Fired;
            int before = failed.Count;
            Take(taker);
            bool isOver = log.Disk.Faults.Fired == fired;
            log.Disk.Faults.Clear();
            if (isOver) break;
            failures++;
            Assert.Equal(before + 1, failed.Count);
            Assert.Contains("the disk is full", failed[^1], StringComparison.Ordinal);
            CheckFiles();
            Take(taker); // the duty goes on
            Assert.Equal(new Lsn(lsn), published[^1].Lsn);
        }
        Assert.True(failures >= 6, $"{failures} failures");
        Assert.Equal(failures + 1, published.Count);
    }

    [Fact]
    public void Step_AnyOtherErrorAnywhere_IsThrownAndLeavesNothingNamedThatIsNotWhole()
    {
        int failures = 0;
        for (int at = 1; ; at++)
        {
            using CheckpointTaker taker = Taker();
            log.Disk.Faults.FailNth(at, FileFault.InputOutput);
            long fired = log.Disk.Faults.Fired;
            Exception? error = Record.Exception(() => Take(taker));
            bool isOver = log.Disk.Faults.Fired == fired;
            log.Disk.Faults.Clear();
            if (isOver) break;
            failures++;
            Assert.IsType<SimulatedIOException>(error);
            CheckNames();
        }
        Assert.True(failures >= 10, $"{failures} failures");
        Assert.Empty(failed);
    }

    /// <summary>The control: a checkpoint with a flipped bit is noticed by the same look.</summary>
    [Fact]
    public void CheckNames_DamagedCheckpoint_IsNoticed()
    {
        using CheckpointTaker taker = Taker();
        Take(taker);
        CheckFiles();
        log.Disk.FlipBit($"{OpenedLog.Directory}/{published[^1]}", 90, 1);
        Assert.ThrowsAny<Exception>(CheckNames);
    }

    /// <summary>A secondary so far behind that the log at its mark was truncated: it lets the image go and lives.</summary>
    [Fact]
    public void Begin_LogAtTheMarkIsGone_LetsTheImageGoAndTakesTheNext()
    {
        using CheckpointTaker taker = Taker();
        isGone = true;
        Take(taker);
        Assert.Contains("not there any more", Assert.Single(failed));
        Assert.Empty(published);
        isGone = false;
        Take(taker);
        Assert.Single(published);
    }

    private readonly CheckpointMemory memory = new(); // what one leaves in it does the next no harm
    private bool isGone;

    private CheckpointTaker Taker(bool isOurs = true) => new(new CheckpointParts(
        (ImageBegin begin, out string why) => (why = "it is not there any more").Length > 0 && isGone ? null : new CheckpointJob(
            new CheckpointHeader(0, log.Identity.Uuid, begin.Position, Lsn.Zero, log.Epoch, 0, 0, 1, 0, "r0"),
            new CoordinatorPart([], [], [], Lsn.Zero, []), [], isOurs),
        static _ => { },
        header => new CheckpointWriter(log.Disk, OpenedLog.Directory, log.Identity, header, NoCrashPoints.Instance, memory),
        () => new Lsn(lsn),
        published.Add, static _ => { }, failed.Add, (at, _) => computed.Add(at), static () => { }, static () => { }));

    /// <summary>One image of five chunks, in blocks of the sink and a rest.</summary>
    private void Take(CheckpointTaker taker, bool isLie = false)
    {
        byte[] image = new byte[4_500_000];
        new Random((int)++lsn).NextBytes(image);
        Assert.True(taker.Begin(new ImageBegin(new Lsn(lsn), 0), isWanted: true, static _ => { }));
        for (int at = 0; at < image.Length; at += ImageChunk.BytesMax)
        {
            while (!taker.Chunk(image.AsSpan(at, Math.Min(ImageChunk.BytesMax, image.Length - at))))
                Assert.True(taker.Step(), "it is full and there is nothing to do");
        }
        Assert.True(taker.End(new ImageEnd((ulong)image.Length, isLie ? 1 : ChannelHash.Append(0, image))));
        while (taker.Step()) { }
    }

    private void CheckFiles()
    {
        CheckNames();
        Assert.DoesNotContain(log.Disk.List(OpenedLog.Directory), static n => n.EndsWith(".tmp", StringComparison.Ordinal));
    }

    private void CheckNames()
    {
        SimulatedFileSystem disk = log.Disk.Copy();
        disk.PowerLoss(lsn, PowerLossOptions.LoseAll);
        foreach (SimulatedFileSystem look in new[] { log.Disk, disk })
            foreach (CheckpointFileName name in Checkpoints.List(look, OpenedLog.Directory))
                Assert.True(Checkpoints.IsValid(look, OpenedLog.Directory, name, log.Identity), $"{name} is not whole");
    }
}
