using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Hashing;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

public sealed class ScratchFileTests : IDisposable
{
    private const string Path = "/s/scratch";
    private const long Limit = 16L * ScratchFile.ExtentBytes;
    private readonly SimulatedFileSystem _files = new();
    private readonly ScratchFile _scratch;

    public ScratchFileTests()
    {
        _files.CreateDirectory("/s");
        _scratch = new ScratchFile(_files, Path, Limit);
    }

    private sealed record Piece(long At, byte[] Bytes);

    private Piece Put(SpillTail tail, SimulatedRandom random, int bytes)
    {
        byte[] content = new byte[bytes];
        random.NextBytes(content);
        return new Piece(Put(_scratch, tail, content), content);
    }

    private static long Put(ScratchFile into, SpillTail tail, byte[] bytes)
    {
        Assert.True(into.HasRoomFor(tail, bytes.Length));
        Assert.True(into.TryPut(tail, bytes, out long at));
        return at;
    }

    private void AssertSame(Piece piece)
    {
        byte[] read = new byte[piece.Bytes.Length];
        _scratch.Get(piece.At, read, Crc32C.Of(piece.Bytes));
        Assert.True(read.AsSpan().SequenceEqual(piece.Bytes), $"{piece.Bytes.Length} bytes at {piece.At}");
    }

    private long LengthOnDisk()
    {
        using IFile file = _files.Open(Path, FileUse.Read);
        return file.Length;
    }

    [Fact]
    public void Get_BitThatFlippedOnDisk_EndsTheProcess()
    {
        string? why = null;
        using var own = new ScratchFile(_files, Path, Limit, unreadable: what => why = what);
        byte[] content = [1, 2, 3, 4];
        long at = Put(own, new SpillTail(), content);
        _files.FlipBit(Path, 2, 5);

        Assert.Throws<IOException>(() => own.Get(at, new byte[content.Length], Crc32C.Of(content)));

        Assert.NotNull(why);
    }

    [Fact]
    public void RemoveLeftover_OfAKilledProcess_GivesItsDiskBack()
    {
        Put(new SpillTail(), new SimulatedRandom(1), 1000);
        var next = new ScratchFile(_files, Path, Limit);
        Assert.True(_files.Exists(Path));
        next.RemoveLeftover();
        Assert.False(_files.Exists(Path));
        next.RemoveLeftover(); // none is there
    }

    /// <summary>
    /// One peer is away for ever; the others' outputs come and go, a hundred times the limit: the disk holds what is live and no more.
    /// </summary>
    [Fact]
    public void Put_OnePeerAwayAndSteadyTrimsOfOthers_ReusesTheFile()
    {
        var random = new SimulatedRandom(7);
        var away = new List<Piece>();
        var awayTail = new SpillTail();
        var others = Enumerable.Range(0, 3).Select(static _ => (Tail: new SpillTail(), Pieces: new Queue<Piece>())).ToArray();
        for (long written = 0; written < 100 * Limit;)
        {
            if (away.Count < 20) away.Add(Put(awayTail, random, 3000));
            var (tail, pieces) = random.Pick(others);
            Piece piece = Put(tail, random, random.Next(1, 60_000));
            pieces.Enqueue(piece);
            written += piece.Bytes.Length;
            while (pieces.Sum(static p => p.Bytes.Length) > 400_000)
            {
                Piece oldest = pieces.Dequeue();
                if (random.Chance(5)) AssertSame(oldest);
                _scratch.Drop(oldest.At, oldest.Bytes.Length);
            }
            Assert.False(_scratch.IsFull);
        }
        Assert.InRange(LengthOnDisk(), 1, Limit + ScratchFile.ExtentBytes);
        Assert.InRange(LengthOnDisk(), _scratch.DiskBytes - ScratchFile.ExtentBytes, _scratch.DiskBytes);
        foreach (Piece piece in away) AssertSame(piece);
        foreach (Piece piece in away.Concat(others.SelectMany(static o => o.Pieces))) _scratch.Drop(piece.At, piece.Bytes.Length);
        Assert.Equal((0L, 0L), (_scratch.LiveBytes, LengthOnDisk()));
    }

    [Fact]
    public void IsFull_WhenTheDiskHoldsTheLimit_AndNotBefore()
    {
        var random = new SimulatedRandom(7);
        var tail = new SpillTail();
        var pieces = new List<Piece>();
        while (!_scratch.IsFull)
        {
            Assert.True(_scratch.DiskBytes < Limit);
            pieces.Add(Put(tail, random, 10_000));
        }
        Assert.InRange(LengthOnDisk(), Limit - ScratchFile.ExtentBytes, Limit + ScratchFile.ExtentBytes);
        Assert.Equal(Limit, _scratch.DiskBytes);
        foreach (Piece piece in pieces[..(pieces.Count / 2)]) _scratch.Drop(piece.At, piece.Bytes.Length);
        Assert.False(_scratch.IsFull);
        foreach (Piece piece in pieces[(pieces.Count / 2)..]) AssertSame(piece);
    }

    /// <summary>Frames larger than an extent take several, wherever they lie; a second holder keeps them.</summary>
    [Fact]
    public void PutGet_AnySizesAndHolders_GivesEveryByteBack() => Made.Seeds(30, random =>
    {
        using var own = new ScratchFile(_files, $"/s/{random.NextUInt64():x}", 1L << 40);
        var live = new List<(Piece Piece, int Holders)>();
        SpillTail[] tails = [new(), new()];
        for (int step = 0; step < 300; step++)
        {
            if (random.Chance(55))
            {
                byte[] bytes = new byte[random.Chance(5) ? random.Next(1, 4 * ScratchFile.ExtentBytes) : random.Chance(3)
                    ? ScratchFile.ExtentBytes : random.Next(1, 30_000)];
                random.NextBytes(bytes);
                live.Add((new Piece(Put(own, random.Pick(tails), bytes), bytes), 1));
            }
            else if (live.Count > 0)
            {
                int i = random.Next(live.Count);
                (Piece piece, int holders) = live[i];
                byte[] read = new byte[piece.Bytes.Length];
                own.Get(piece.At, read, Crc32C.Of(piece.Bytes));
                Assert.True(read.AsSpan().SequenceEqual(piece.Bytes));
                if (random.Chance(20)) { own.Hold(piece.At, piece.Bytes.Length); live[i] = (piece, holders + 1); continue; }
                own.Drop(piece.At, piece.Bytes.Length);
                if (holders == 1) live.RemoveAt(i);
                else live[i] = (piece, holders - 1);
            }
        }
        foreach ((Piece piece, int holders) in live)
            for (int i = 0; i < holders; i++) own.Drop(piece.At, piece.Bytes.Length);
        Assert.Equal((0L, 0L), (own.LiveBytes, own.DiskBytes));
    });

    /// <summary>
    /// At every size of the disk: what is there stays as it is, nothing is taken that does not fit, the end of the disk is left,
    /// and with space it goes on.
    /// </summary>
    [Fact]
    public void TryPut_OnAFullDisk_TakesNothingUntilThereIsSpace() => Made.Seeds(30, random =>
    {
        const long Left = 300_000;
        var disk = new SimulatedFileSystem();
        disk.CreateDirectory("/s");
        using var own = new ScratchFile(disk, Path, 1L << 40, Left);
        disk.CapacityBytes = Left + random.Next(1, 6 * ScratchFile.ExtentBytes);
        SpillTail[] tails = [new(), new()];
        var pieces = new Queue<Piece>();
        bool isFull = false;
        for (int step = 0; step < 400; step++)
        {
            byte[] bytes = new byte[random.Chance(5) ? random.Next(1, 3 * ScratchFile.ExtentBytes) : random.Next(1, 60_000)];
            random.NextBytes(bytes);
            SpillTail tail = random.Pick(tails);
            bool hasRoom = own.HasRoomFor(tail, bytes.Length);
            Assert.Equal(hasRoom, own.TryPut(tail, bytes, out long at));
            Assert.True(disk.FreeBytes("/s") >= Left, "the end of the disk was taken");
            if (hasRoom) pieces.Enqueue(new Piece(at, bytes));
            isFull |= !hasRoom;
            if (!hasRoom && random.Chance(30)) disk.CapacityBytes += random.Next(1, 2 * ScratchFile.ExtentBytes);
            if (!hasRoom && pieces.TryDequeue(out Piece? oldest)) own.Drop(oldest.At, oldest.Bytes.Length);
        }
        Assert.True(isFull);
        byte[] read = new byte[1 << 20];
        foreach (Piece piece in pieces)
        {
            own.Get(piece.At, read.AsSpan(0, piece.Bytes.Length), Crc32C.Of(piece.Bytes));
            Assert.True(read.AsSpan(0, piece.Bytes.Length).SequenceEqual(piece.Bytes));
            own.Drop(piece.At, piece.Bytes.Length);
        }
        Assert.Equal((0L, 0L), (own.LiveBytes, own.DiskBytes));
    });

    /// <summary>
    /// A file system that sets disk aside and does not have it when it is written: nothing is taken, and the next is asked for anew.
    /// </summary>
    [Fact]
    public void TryPut_WhereDiskThatWasSetAsideIsNotThere_TakesNothing()
    {
        var random = new SimulatedRandom(3);
        var tail = new SpillTail();
        var pieces = new List<Piece> { Put(tail, random, 1000) };
        foreach (int bytes in new[] { 1000, ScratchFile.ExtentBytes, 3 * ScratchFile.ExtentBytes })
        {
            _files.Faults.FailNth(1, FileFault.NoSpace, where: static o => o.Kind == FileOperationKind.Write);
            byte[] content = new byte[bytes];
            Assert.False(_scratch.TryPut(tail, content, out _));
            pieces.Add(Put(tail, random, bytes));
        }
        foreach (Piece piece in pieces) AssertSame(piece);
        foreach (Piece piece in pieces) _scratch.Drop(piece.At, piece.Bytes.Length);
        Assert.Equal((0L, 0L), (_scratch.LiveBytes, _scratch.DiskBytes));
    }

    [Fact]
    public void TryPut_OnABrokenDisk_Fails()
    {
        _files.Faults.FailNth(1, FileFault.InputOutput, where: static o => o.Kind == FileOperationKind.Write);
        Assert.Throws<SimulatedIOException>(() => _scratch.TryPut(new SpillTail(), new byte[10], out _));
    }

    [Fact]
    public void Drop_MoreOftenThanWanted_IsABug()
    {
        var tail = new SpillTail();
        Piece piece = Put(tail, new SimulatedRandom(1), 100);
        Put(tail, new SimulatedRandom(1), 10);
        _scratch.Drop(piece.At, 100);
        Assert.Throws<InvalidOperationException>(() => _scratch.Drop(piece.At, 100));
    }

    public void Dispose() => _scratch.Dispose();
}
