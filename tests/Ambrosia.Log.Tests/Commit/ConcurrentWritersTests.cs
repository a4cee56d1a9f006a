using System.Buffers.Binary;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>Several threads write beside a committer; what the log holds at the end decides.</summary>
public sealed class ConcurrentWritersTests
{
    private const string Dir = "/log";
    private const int Writers = 4, RecordsEach = 20_000;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Hammer_ManyWritersAndCommitters_EveryRecordOnceAndInOrder(int committers)
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Primary.Start(fs, Dir, Primary.Small with { SegmentBytes = 1 << 20 });
        using var wake = new SemaphoreSlim(0);
        int writing = Writers;
        var threads = new List<Thread>();
        var failures = new List<Exception>();
        void Run(Action action)
        {
            var thread = new Thread(() =>
            {
                try
                {
                    action();
                }
                catch (Exception e)
                {
                    lock (failures) failures.Add(e);
                }
            });
            threads.Add(thread);
            thread.Start();
        }

        for (int w = 0; w < Writers; w++)
        {
            int writer = w;
            Run(() =>
            {
                Write(primary.Writer, writer, wake);
                Interlocked.Decrement(ref writing);
                wake.Release(committers);
            });
        }
        for (int c = 0; c < committers; c++) Run(() => Commit(primary, wake, () => Volatile.Read(ref writing) == 0));
        foreach (Thread thread in threads) Assert.True(thread.Join(TimeSpan.FromMinutes(2)), "no thread hangs");
        Assert.Empty(failures);
        primary.Commit();
        Assert.Equal(primary.Writer.Tail, primary.Writer.Durable);
        Verify(LogContent.Read(fs, Dir), Writers, RecordsEach);
    }

    /// <summary>
    /// Each record is appended at the moment at which the committer finds nothing more to do: a wake-up that can be lost is lost here, and
    /// then nobody ever commits again.
    /// </summary>
    [Fact]
    public void Leave_WhileTheCommitterGoesToSleep_NeverLosesTheWakeUp()
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Primary.Start(fs, Dir);
        using var wake = new SemaphoreSlim(0);
        bool isOver = false;
        var committer = new Thread(() => Commit(primary, wake, () => Volatile.Read(ref isOver)));
        committer.Start();
        bool isStuck = false;
        int rounds = Math.Max(6_000, TestScale.Rounds(30_000));
        for (int i = 0; i < rounds && !isStuck; i++)
        {
            Assert.True(primary.Writer.TryReserve(RecordHeader.Bytes, out Reservation r));
            new RecordHeader(0, RecordKind.Run).Write(r.Bytes);
            Lsn end = r.End;
            if (primary.Writer.Leave(r)) wake.Release();
            isStuck = !SpinUntilDurable(primary.Writer, end);
            // every moment of the committer's way to sleep has its turn
            for (int pause = i % 256; pause > 0; pause--) Volatile.Read(ref isOver);
        }
        Volatile.Write(ref isOver, true);
        wake.Release();
        committer.Join();
        Assert.False(isStuck, "a record waits for a committer that sleeps");
    }

    [Fact]
    public void Verify_SwappedDoubledOrLostRecord_IsNoticed()
    {
        List<LoggedRecord> good = [];
        for (int i = 0; i < 10; i++) good.Add(new LoggedRecord(new Lsn((ulong)i), RecordKind.Run, Body(0, i)));
        Verify(good, 1, 10);
        Assert.ThrowsAny<Exception>(() => Verify([.. good[..4], good[5], good[4], .. good[6..]], 1, 10));
        Assert.ThrowsAny<Exception>(() => Verify([.. good[..4], good[4], .. good[4..]], 1, 10));
        Assert.ThrowsAny<Exception>(() => Verify([.. good[..9]], 1, 10));
        good[3].Body[^1] ^= 1;
        Assert.ThrowsAny<Exception>(() => Verify(good, 1, 10));
    }

    private static void Write(LogWriter log, int writer, SemaphoreSlim wake)
    {
        for (int i = 0; i < RecordsEach; i++)
        {
            byte[] body = Body(writer, i);
            Reservation r;
            while (!log.TryReserve(RecordHeader.Bytes + body.Length, out r))
            {
                wake.Release();
                Thread.Yield();
            }
            new RecordHeader((uint)body.Length, RecordKind.Run).Write(r.Bytes);
            body.CopyTo(r.Bytes[RecordHeader.Bytes..]);
            if (log.Leave(r)) wake.Release();
        }
    }

    /// <summary>Waits without a limit of time: a wake-up that gets lost shows as a test that hangs.</summary>
    private static void Commit(Primary primary, SemaphoreSlim wake, Func<bool> isOver)
    {
        while (true)
        {
            primary.Commit();
            if (isOver()) return;
            wake.Wait();
        }
    }

    /// <summary>Reads without a pause, to be as close behind the committer as can be; returns false after half a minute.</summary>
    private static bool SpinUntilDurable(LogWriter log, Lsn end)
    {
        long deadline = Environment.TickCount64 + 30_000;
        for (int spins = 1; log.Durable < end; spins++)
            if (spins % (1 << 16) == 0 && Environment.TickCount64 > deadline) return false;
        return true;
    }

    private static byte[] Body(int writer, int number)
    {
        byte[] body = new byte[8 + (number * 31 + writer) % 700];
        BinaryPrimitives.WriteInt32LittleEndian(body, writer);
        BinaryPrimitives.WriteInt32LittleEndian(body.AsSpan(4), number);
        for (int i = 8; i < body.Length; i++) body[i] = (byte)(writer + number + i);
        return body;
    }

    private static void Verify(List<LoggedRecord> records, int writers, int each)
    {
        int[] next = new int[writers];
        Lsn last = default;
        for (int i = 0; i < records.Count; i++)
        {
            if (i > 0) Assert.True(records[i].Lsn > last);
            last = records[i].Lsn;
            int writer = BinaryPrimitives.ReadInt32LittleEndian(records[i].Body);
            Assert.Equal(Body(writer, next[writer]++), records[i].Body);
        }
        Assert.All(next, count => Assert.Equal(each, count));
    }
}
