using Ambrosia.Log.Files;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>What is read past the page cache is what the file holds at that moment, from any position into any memory.</summary>
public sealed class DirectReaderTests
{
    private const int StretchBytes = 16 << 10, FileBytes = 300_001, Rounds = 20_000;

    [Fact]
    public void Read_AnyPlacesWhileTheFileGrows_IsWhatTheFileHolds()
    {
        var file = new GrowingFile(FileBytes, seed: 1);
        Assert.Null(FindStale(file, DirectReader.TryMake(file, StretchBytes)!, limit: static file => file.Settled));
    }

    [Fact]
    public void Read_SmallPiecesOneAfterAnother_ComeTogether()
    {
        var file = new GrowingFile(16 * StretchBytes, seed: 5);
        DirectReader window = DirectReader.TryMake(file, StretchBytes)!;
        byte[] piece = new byte[1024], expected = new byte[1024];
        for (int at = 0; at < file.Length; at += piece.Length)
        {
            Assert.Equal((piece.Length, piece.Length), (window.Read(piece, at), file.Peek(expected, at)));
            Assert.Equal(expected, piece);
        }
        Assert.Equal(16, file.Reads);
    }

    /// <summary>Negative control: who keeps what may change reads it stale.</summary>
    [Fact]
    public void Read_BeyondTheLimit_IsNotKept()
    {
        var file = new GrowingFile(FileBytes, seed: 2);
        Assert.NotNull(FindStale(file, DirectReader.TryMake(file, StretchBytes)!, limit: static _ => long.MaxValue));
    }

    [Fact]
    public void Follower_OfALogWrittenPastTheCache_ReadsEveryPage()
    {
        using var directory = new TemporaryDirectory();
        var files = new PosixFileSystem();
        using Primary primary = Primary.Start(files, directory.Path);
        var random = new SimulatedRandom(3);
        List<LoggedRecord> written = [], read = [];
        using var follower = new LogFollower(files, directory.Path, primary.Identity);
        using var reader = new LogReader(files, directory.Path, primary.Identity, follower.Chain, holds: true);
        var (buffer, next, spanning) = (new PageBuffer(4096), Lsn.Zero, new SpanningParts());
        for (int round = 0; round < 400; round++) // through several segments
        {
            for (int n = random.Next(1, 6); n > 0; n--)
            {
                written.Add(primary.Append(new byte[random.Next(1, 2500)]));
                if (random.Next(4) == 0) primary.Commit();
            }
            primary.Commit();
            if (random.Next(3) > 0) continue; // so that several pages wait at times
            while (follower.Step()) { }
            for (reader.Expect(follower.Stated); next < follower.Stated
                && reader.Read(next, ref buffer) == ReadStatus.Page; next = buffer.Next) spanning.Add(buffer, read);
        }
        Assert.True(read.Count > written.Count / 2, $"{read.Count} of {written.Count} records were read");
        Assert.Equal(written[..read.Count], read);
    }

    private static string? FindStale(GrowingFile file, DirectReader window, Func<GrowingFile, long> limit)
    {
        var random = new SimulatedRandom(4);
        var memory = new AlignedBlock(64 << 10);
        byte[] expected = new byte[memory.Length];
        for (int round = 0; round < Rounds; round++)
        {
            file.Change(random);
            window.Limit = limit(file);
            long at = random.Next(3) == 0 ? random.Next(FileBytes + 5000) : Math.Max(0, file.Settled - random.Next(40_000));
            if (random.Next(2) == 0) at -= at % 4096;
            int length = random.Next(2) == 0 ? random.Next(1, 5000) : 4096 * random.Next(1, 12);
            Span<byte> into = memory.Span.Slice(random.Next(2) == 0 ? 0 : random.Next(1, 4096), length);
            int count = window.Read(into, at);
            if (count != file.Peek(expected.AsSpan(0, length), at) || !into[..count].SequenceEqual(expected.AsSpan(0, count)))
                return $"round {round}: {length} bytes at {at}";
        }
        return null;
    }

    /// <summary>Bytes above a place that moves up change at any time. It takes only what a device takes.</summary>
    private sealed class GrowingFile(int bytes, ulong seed) : IFile
    {
        private readonly byte[] _content = Filled(bytes, seed);

        public int Settled { get; private set; }

        public int Reads { get; private set; }

        public long Length => _content.Length;

        private static byte[] Filled(int bytes, ulong seed)
        {
            byte[] made = new byte[bytes];
            new SimulatedRandom(seed).NextBytes(made);
            return made;
        }

        public void Change(SimulatedRandom random)
        {
            if (random.Next(50) == 0) Settled = Math.Min(_content.Length, Settled + 4096 * random.Next(1, 4));
            if (Settled < _content.Length) random.NextBytes(_content.AsSpan(Settled, Math.Min(64 << 10, _content.Length - Settled)));
        }

        public int Peek(Span<byte> to, long offset)
        {
            int count = (int)Math.Clamp(_content.Length - offset, 0, to.Length);
            if (count > 0) _content.AsSpan((int)offset, count).CopyTo(to);
            return count;
        }

        public unsafe int Read(Span<byte> buffer, long offset)
        {
            fixed (byte* start = buffer) Assert.Equal((0L, 0, 0L), ((long)((nuint)start % 4096), buffer.Length % 4096, offset % 4096));
            Reads++;
            return Peek(buffer, offset);
        }

        public bool TryWriteDirect() => true;

        public void Write(ReadOnlySpan<byte> bytes, long offset) => throw new NotSupportedException();

        public void Allocate(long from, long end) => throw new NotSupportedException();

        public void SetLength(long length) => throw new NotSupportedException();

        public void Flush() => throw new NotSupportedException();

        public bool TryLock(FileLockKind kind) => throw new NotSupportedException();

        public void Unlock() => throw new NotSupportedException();

        public void DropCache() => throw new NotSupportedException();

        public void Dispose()
        {
        }
    }
}
