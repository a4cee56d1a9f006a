using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Whatever breaks between an outbox and its peer, the peer gets every message once, in the order of emission.</summary>
public sealed class SendCursorTests
{
    [Fact]
    public void Sending_AnyBreaksTrimsAndSpills_GivesThePeerExactlyWhatIsMissing() =>
        Made.Seeds(300, static random => Play(random, static files => files), atLeast: 40);

    /// <summary>Whatever else the peer were given would end the test in another way.</summary>
    [Fact]
    public void Sending_ScratchThatLosesAByte_EndsBeforeThePeerIsGivenIt()
    {
        int found = 0;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            try { Play(new SimulatedRandom(seed), static files => new ForgetfulFiles(files)); }
            catch (IOException) { found++; }
        }
        Assert.InRange(found, 5, 20);
    }

    /// <summary>
    /// Runs of an app that speaks to many in turn stand apart from one another in its blocks: they go together all the same.
    /// </summary>
    [Fact]
    public void Sending_ToManyInTurn_GoesTogether()
    {
        const int turns = 400, turnBytes = 500, sendBytesMax = 64 << 10;
        using var bench = new OutboxBench();
        Outbox other = bench.Set.GetOrAdd(new InstanceId("other"));
        var emitted = new List<byte[]>();
        for (int i = 0; i < turns; i++)
        {
            emitted.Add(Made.Message(MessageKind.Fork, (ulong)i, turnBytes));
            foreach (Outbox to in new[] { bench.Outbox, other }) bench.Append(Made.Run(MessageKind.Fork, 0, 0, [emitted[^1]]), to);
        }
        var peer = new Receiver();
        var link = new SendCursor(bench.Outbox, 77, Ambrosia.Protocol.SizeLimits.MessageBytesMaxDefault);
        link.Resume(0, 0);
        int sends = 0;
        for (; link.TryTake(out ReadOnlyMemory<byte> bytes); sends++)
        {
            Assert.InRange(bytes.Length, 1, sendBytesMax);
            peer.Receive([.. bytes.Span], seed: 77);
            link.Taken();
        }
        Assert.Equal(emitted, peer.Messages);
        Assert.InRange(sends, 1, turns * turnBytes / sendBytesMax + 2); // one more for the frames' headers, one for each block's end
        link.End();
        bench.LeaveBlock();
        foreach (Outbox to in new[] { bench.Outbox, other }) to.Trim(turns);
        Assert.Equal(0, bench.Pool.Outstanding);
    }

    private static void Play(SimulatedRandom random, Func<IFileSystem, IFileSystem> plant)
    {
        IFileSystem files = new SimulatedFileSystem();
        files.CreateDirectory("/s");
        using var bench = new OutboxBench(random.Pick<int>([-1, 1, 1000]), plant(files));
        var peer = new Receiver();
        var emitted = new List<byte[]>();
        ulong ticket = 0;
        SendCursor? link = null;
        var wire = new List<byte>();
        for (int step = 0; step < 400 || peer.Messages.Count < emitted.Count; step++)
        {
            Assert.True(step < 20_000, "it comes to rest");
            int what = step < 400 ? random.Next(12) : random.Next(4, 9);
            if (what < 3) Emit();
            else if (what == 3) { bench.Outbox.Trim(peer.DurableCalls); bench.Outbox.ImpulsesDurable(peer.DurableImpulses); }
            else if (link is null) Connect();
            else if (what < 7) Send();
            else if (what < 9) Receive();
            else if (what == 9 && random.Chance(30)) Break();
            else if (what == 10) bench.LeaveBlock();
            else peer.Commit();
        }
        Assert.Equal(emitted, peer.Messages);
        link?.End();
        bench.LeaveBlock();
        bench.Outbox.Trim(peer.Calls);
        bench.Outbox.ImpulsesDurable(peer.Impulses);
        bench.AssertNothingKept();

        void Emit()
        {
            bool isImpulse = random.Chance(25);
            MessageKind kind = isImpulse ? MessageKind.Impulse : random.Pick(Made.Numbered);
            byte[][] messages = [.. Enumerable.Range(emitted.Count, random.Next(1, 5)).Select(number => Any(random, kind, number))];
            if (messages.Length > 1 && messages.Sum(static m => m.Length) > 200_000) return;
            if (isImpulse) { bench.AppendImpulses(ticket + 1, Receiver.Epoch, messages); ticket += (ulong)messages.Length; }
            else bench.Append(Made.Run(kind, 0, 0, messages, random.Chance(20) ? Made.Extension(random.Next(50)) : null));
            emitted.AddRange(messages);
        }

        void Connect()
        {
            peer.Commit();
            link = new SendCursor(bench.Outbox, 77, Ambrosia.Protocol.SizeLimits.MessageBytesMaxDefault);
            link.Resume(peer.Calls, peer.Impulses);
        }

        void Send()
        {
            if (!link!.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            wire.AddRange(bytes.Span);
            link.Taken();
        }

        void Receive()
        {
            int count = Math.Min(wire.Count, random.Chance(50) ? wire.Count : random.Next(200));
            peer.Receive(wire[..count], seed: 77);
            wire.RemoveRange(0, count);
        }

        void Break()
        {
            link!.End();
            link = null;
            wire.Clear();
            peer.Disconnected();
        }
    }

    private static byte[] Any(SimulatedRandom random, MessageKind kind, int number) =>
        Made.Message(kind, (ulong)number, random.Chance(2) ? random.Next(300_000) : random.Next(60));

    /// <summary>A peer that takes nothing but the next number, and checks the sender's hash over all that it got.</summary>
    private sealed class Receiver
    {
        public static readonly Epoch Epoch = new(4);
        private readonly List<byte> _partial = [];
        private ChannelHasher _hasher;

        public List<byte[]> Messages { get; } = [];

        public ulong Calls { get; private set; }

        public ulong Impulses { get; private set; }

        public ulong DurableCalls { get; private set; }

        public ulong DurableImpulses { get; private set; }

        public void Commit() => (DurableCalls, DurableImpulses) = (Calls, Impulses);

        public void Disconnected() => _partial.Clear();

        public void Receive(List<byte> bytes, uint seed)
        {
            _partial.AddRange(bytes);
            byte[] all = [.. _partial];
            int at = 0;
            while (FrameReader.TryRead(all.AsSpan(at), seed, 1 << 24, checkPayload: true, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
            {
                Assert.Equal(FrameType.Run, header.Type);
                Take(RunView.ReadWhole(payload, 1 << 24));
                at += size;
            }
            _partial.RemoveRange(0, at);
        }

        private void Take(RunView run)
        {
            List<byte[]> messages = Made.MessagesOf(run);
            Messages.AddRange(messages);
            if (run.Header.Kind == MessageKind.Impulse)
            {
                Assert.Equal((Impulses + 1, Epoch.Value), (run.Header.First, run.Header.Hash));
                Impulses = run.Header.Last;
                return;
            }
            Assert.Equal(Calls + 1, run.Header.First);
            foreach (byte[] message in messages) _hasher.Append(run.Header.Kind, message);
            Assert.Equal(_hasher.Hash, run.Header.Hash);
            Calls = run.Header.Last;
        }
    }

    /// <summary>The planted bug: what is read back lacks its last byte's lowest bit.</summary>
    private sealed class ForgetfulFiles(IFileSystem inner) : IFileSystem
    {
        public IFile Open(string path, FileUse use) => new Forgetful(inner.Open(path, use));
        public IFile Create(string path) => new Forgetful(inner.Create(path));
        public bool Exists(string path) => inner.Exists(path);
        public IReadOnlyList<string> List(string directory) => inner.List(directory);
        public void CreateDirectory(string path) => inner.CreateDirectory(path);
        public void Rename(string from, string to) => inner.Rename(from, to);
        public bool TryRenameNew(string from, string to) => inner.TryRenameNew(from, to);
        public bool TryLink(string existing, string link) => inner.TryLink(existing, link);
        public void Delete(string path) => inner.Delete(path);
        public void FlushDirectory(string path) => inner.FlushDirectory(path);
        public long FreeBytes(string directory) => inner.FreeBytes(directory);
        public IFileLock? TryLock(string path) => inner.TryLock(path);
        public IFileLock? WaitForLock(string path, CancellationToken stop) => inner.WaitForLock(path, stop);

        private sealed class Forgetful(IFile file) : IFile
        {
            public long Length => file.Length;

            public int Read(Span<byte> buffer, long offset)
            {
                int read = file.Read(buffer, offset);
                if (read > 0) buffer[read - 1] ^= 1;
                return read;
            }

            public void Write(ReadOnlySpan<byte> bytes, long offset) => file.Write(bytes, offset);
            public void Allocate(long from, long end) => file.Allocate(from, end);
            public void SetLength(long length) => file.SetLength(length);
            public void Flush() => file.Flush();
            public bool TryLock(FileLockKind kind) => file.TryLock(kind);
            public void Unlock() => file.Unlock();
            public void DropCache() => file.DropCache();
            public void Dispose() => file.Dispose();
        }
    }
}
