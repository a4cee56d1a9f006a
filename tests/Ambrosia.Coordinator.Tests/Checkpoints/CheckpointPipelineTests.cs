using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The Nth operation of a checkpoint fails: nothing that is not whole ever has its name; a full disk costs that one and no more, any
/// other error ends the process.
/// </summary>
public sealed class CheckpointPipelineTests : ICheckpointSource, ICheckpointOutcome
{
    private readonly OpenedLog _log = new();
    private readonly List<string> _failed = [];
    private readonly List<CheckpointFileName> _published = [];
    private readonly List<Lsn> _computed = [];

    /// <summary>Why the checkpoint is not to have its name; null: it may.</summary>
    private string? _refused;
    private ulong _lsn;

    private const int TooManyFiles = 24; // EMFILE
    private int _refusals, _truncations;

    /// <summary>
    /// The image of a mark that names another replica is compared: no file is made, and nothing is said of it, not even
    /// when the app lies about it.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Step_JobOfAnotherReplica_IsOnlyCompared(bool isLie)
    {
        using CheckpointPipeline taker = Taker(isOurs: false);
        long operations = _log.Disk.Operations;
        Take(taker, isLie);
        Assert.Equal(operations, _log.Disk.Operations);
        Assert.Empty(_failed);
        Assert.Equal(isLie ? [] : [new Lsn(_lsn)], _computed);
    }

    /// <summary>What came to nothing in the middle is still compared to its end, and said to have failed once.</summary>
    [Fact]
    public void Step_DiskFullInTheMiddle_TheRestIsCompared()
    {
        using CheckpointPipeline taker = Taker();
        _log.Disk.Faults.FailNth(2, FileFault.NoSpace, forGood: true, static o => o.Kind == FileOperationKind.Write);
        Take(taker);
        Take(taker, isLie: true);
        Assert.Equal(2, _failed.Count);
        Assert.Equal([new Lsn(1)], _computed);
        Assert.Empty(_published);
    }

    /// <summary>Whoever wanted it sees its hash before it has a name, and may refuse it: nothing of it stays.</summary>
    [Fact]
    public void Step_StateIsRefused_LeavesNoFile()
    {
        using CheckpointPipeline taker = Taker();
        IReadOnlyList<string> before = _log.Disk.List(OpenedLog.Directory);
        _refused = "it is another state";
        Take(taker);
        Assert.Equal("it is another state", Assert.Single(_failed));
        Assert.Empty(_published);
        Assert.Equal(before, _log.Disk.List(OpenedLog.Directory));
    }

    /// <summary>However the app cuts its image: what waits for the disk is bounded, and all of it arrives.</summary>
    [Theory]
    [InlineData(1_000)]
    [InlineData(100_000)]
    [InlineData(ImageChunk.BytesMax)]
    public void Chunk_NobodyWrites_TakesSoMuchAndNoMore(int chunkBytes)
    {
        using CheckpointPipeline taker = Taker();
        byte[] image = new byte[4 << 20];
        new Random(1).NextBytes(image);
        _lsn++;
        Assert.True(taker.Begin(new ImageBegin(new Lsn(_lsn), 0), isWanted: true, static _ => { }));
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
        Assert.Empty(_failed);
        using CheckpointReader reader = CheckpointReader.Open(_log.Disk, $"{OpenedLog.Directory}/{Assert.Single(_published)}", _log.Identity);
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
            using CheckpointPipeline taker = Taker();
            _log.Disk.Faults.FailNth(at, FileFault.NoSpace, forGood,
                static o =>
                    o.Kind is FileOperationKind.Create or FileOperationKind.Write or FileOperationKind.Allocate
                        or FileOperationKind.SetLength or FileOperationKind.Flush);
            long fired = _log.Disk.Faults.Fired;
            int before = _failed.Count;
            Take(taker);
            bool isOver = _log.Disk.Faults.Fired == fired;
            _log.Disk.Faults.Clear();
            if (isOver) break;
            failures++;
            Assert.Equal(before + 1, _failed.Count);
            Assert.Contains("the disk is full", _failed[^1], StringComparison.Ordinal);
            CheckFiles();
            Take(taker); // the duty goes on
            Assert.Equal(new Lsn(_lsn), _published[^1].Lsn);
        }
        Assert.True(failures >= 6, $"{failures} failures");
        Assert.Equal(failures + 1, _published.Count);
    }

    /// <summary>
    /// Descriptors that run out when the file is whole cost nothing: the name comes later. It was under way for ever, so that no other
    /// checkpoint was asked for, and a stop waited for it.
    /// </summary>
    [Theory]
    [InlineData(FileOperationKind.Rename)]
    [InlineData(FileOperationKind.FlushDirectory)]
    public void Step_NameThatIsRefusedForNow_IsGivenLater(FileOperationKind refused)
    {
        using CheckpointPipeline taker = Taker();
        _log.Disk.Faults.FailNth(1, FileFault.TooManyFiles, where: o => o.Kind == refused);
        Assert.ThrowsAny<IOException>(() => Take(taker));
        Assert.Empty(_published);
        while (taker.Step()) { }
        Assert.Single(_published);
        Assert.Empty(_failed);
        CheckFiles();
        Take(taker);
        Assert.Equal(2, _published.Count);
    }

    /// <summary>The same of another replica's checkpoint, for which this one waits, and of what is to be removed.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Step_AdoptionOrTruncationThatIsRefusedForNow_IsDoneLater(bool isTruncation)
    {
        using CheckpointPipeline taker = Taker();
        _refusals = 1;
        if (isTruncation) taker.Truncate();
        else taker.Adopt(new CheckpointFileName(new Lsn(7), _log.Epoch, "r1"));
        Assert.Equal(TooManyFiles, Assert.ThrowsAny<IOException>(() => taker.Step()).HResult);
        Assert.True(taker.Step());
        Assert.False(taker.Step());
        Assert.Equal(isTruncation ? (0, 1) : (1, 0), (_published.Count, _truncations));
    }

    [Fact]
    public void Step_AnyOtherErrorAnywhere_IsThrownAndLeavesNothingNamedThatIsNotWhole()
    {
        int failures = 0;
        for (int at = 1; ; at++)
        {
            using CheckpointPipeline taker = Taker();
            // A read that fails once is made again, and one that fails for good is damage.
            _log.Disk.Faults.FailNth(at, FileFault.InputOutput, where: static o => o.Kind != FileOperationKind.Read);
            long fired = _log.Disk.Faults.Fired;
            Exception? error = Record.Exception(() => Take(taker));
            bool isOver = _log.Disk.Faults.Fired == fired;
            _log.Disk.Faults.Clear();
            if (isOver) break;
            failures++;
            Assert.IsType<SimulatedIOException>(error);
            CheckNames();
        }
        Assert.True(failures >= 10, $"{failures} failures");
        Assert.Empty(_failed);
    }

    /// <summary>The control: a checkpoint with a flipped bit is noticed by the same look.</summary>
    [Fact]
    public void CheckNames_DamagedCheckpoint_IsNoticed()
    {
        using CheckpointPipeline taker = Taker();
        Take(taker);
        CheckFiles();
        _log.Disk.FlipBit($"{OpenedLog.Directory}/{_published[^1]}", 90, 1);
        Assert.ThrowsAny<Exception>(CheckNames);
    }

    /// <summary>A secondary so far behind that the log at its mark was truncated: it lets the image go and lives.</summary>
    [Fact]
    public void Begin_LogAtTheMarkIsGone_LetsTheImageGoAndTakesTheNext()
    {
        using CheckpointPipeline taker = Taker();
        _isGone = true;
        Take(taker);
        Assert.Contains("not there any more", Assert.Single(_failed));
        Assert.Empty(_published);
        _isGone = false;
        Take(taker);
        Assert.Single(_published);
    }

    private readonly CheckpointMemory _memory = new(); // what one leaves in it does the next no harm
    private bool _isGone, _isOurs;

    private CheckpointPipeline Taker(bool isOurs = true)
    {
        _isOurs = isOurs;
        var writer = new CheckpointJobWriter(
            this, header => new CheckpointWriter(_log.Disk, OpenedLog.Directory, _log.Identity, header, ICrashPoints.None, _memory),
            () => new Lsn(_lsn));
        return new CheckpointPipeline(this, this, writer, static () => { }, static () => { });
    }

    CheckpointJob? ICheckpointSource.Take(ImageBegin begin, out string why)
    {
        why = "it is not there any more";
        return _isGone ? null : new CheckpointJob(
            new CheckpointHeader(0, _log.Identity.Uuid, begin.Position, Lsn.Zero, _log.Epoch, 0, 0, 1, 0, "r0"),
            new CoordinatorPart([], [], [], Lsn.Zero, []), [], _isOurs);
    }

    void ICheckpointSource.Forget(ImageBegin begin) { }

    bool ICheckpointOutcome.Published(CheckpointFileName name)
    {
        Refuse();
        _published.Add(name);
        return false;
    }

    void ICheckpointOutcome.Truncate(CheckpointHeader? published)
    {
        Refuse();
        _truncations++;
    }

    private void Refuse()
    {
        if (_refusals-- > 0) throw new IOException("too many open files", TooManyFiles);
    }

    void ICheckpointOutcome.Failed(string why) => _failed.Add(why);

    string? ICheckpointOutcome.Computed(Lsn place, StateDigest state)
    {
        _computed.Add(place);
        return _refused;
    }

    /// <summary>One image of five chunks, in blocks of the sink and a rest.</summary>
    private void Take(CheckpointPipeline taker, bool isLie = false)
    {
        byte[] image = new byte[4_500_000];
        new Random((int)++_lsn).NextBytes(image);
        Assert.True(taker.Begin(new ImageBegin(new Lsn(_lsn), 0), isWanted: true, static _ => { }));
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
        Assert.DoesNotContain(_log.Disk.List(OpenedLog.Directory), static n => n.EndsWith(".tmp", StringComparison.Ordinal));
    }

    private void CheckNames()
    {
        SimulatedFileSystem disk = _log.Disk.Copy();
        disk.PowerLoss(_lsn, PowerLossOptions.LoseAll);
        foreach (SimulatedFileSystem look in new[] { _log.Disk, disk })
            foreach (CheckpointFileName name in CheckpointDirectory.List(look, OpenedLog.Directory))
                Assert.True(CheckpointDirectory.IsValid(look, OpenedLog.Directory, name, _log.Identity), $"{name} is not whole");
    }
}
