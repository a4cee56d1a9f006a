using System.Buffers.Binary;
using Ambrosia.TestKit;
using CRA.Links;

namespace CRA.Tests;

/// <summary>Heartbeats are hours away here, so a wake that is lost is never made good: the message does not arrive at all.</summary>
public sealed class NudgeTests
{
    private static readonly LinkSettings s_silent = LoopbackLinks.Settings with
    {
        HeartbeatAfter = TimeSpan.FromHours(1), DeadAfter = TimeSpan.FromHours(1)
    };

    private static readonly LinkSettings s_throughTls = s_silent with { Certificates = new Authority().Settings("other").Certificates };

    private const int Rounds = 100;

    private enum Signal { Nudge, Wake, Either, Nothing }

    private static void Give(LinkConnection link, Signal signal, int number)
    {
        if (signal == Signal.Nudge || (signal == Signal.Either && number % 3 != 0)) link.Nudge();
        else if (signal != Signal.Nothing) link.Wake();
    }

    // One message after another, each queued only when the last has arrived, from changing threads: the moment at which a wake gets lost.
    private static bool PingPong(Signal signal, int messages, TimeSpan patience, LinkSettings? settings = null)
    {
        using var links = new LoopbackLinks(settings ?? s_silent);
        (LinkConnection dialled, LinkConnection accepted) = links.Pair(settings ?? s_silent);
        var (sender, receiver) = (new QueueTraffic(), new QueueTraffic());
        dialled.Run(sender);
        accepted.Run(receiver);
        bool stuck = false;
        var spin = new SpinWait();
        var watch = System.Diagnostics.Stopwatch.StartNew();
        for (int i = 1; i <= messages && !stuck; i++)
        {
            sender.Queue((byte)i);
            Give(dialled, signal, i);
            for (spin.Reset(); receiver.ReceivedBytes < i && !stuck; spin.SpinOnce(sleep1Threshold: -1)) stuck = watch.Elapsed > patience;
        }
        dialled.Close("done");
        Deadline.Await(() => sender.EndedCount == 1 && receiver.EndedCount == 1, "the end");
        return !stuck && sender.Fault is null;
    }

    [Fact]
    public void Nudge_OneMessageAtATime_LosesNone() => Assert.True(PingPong(Signal.Nudge, 20_000, Deadline.Generous));

    // Other threads send inline when the other side goes away: nobody is inside a stream that is being given back, or
    // gives it bytes afterwards.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Nudge_WhileTheConnectionBreaks_EndsWithIt(bool throughTls)
    {
        LinkSettings settings = throughTls ? s_throughTls : s_silent;
        using var links = new LoopbackLinks(settings);
        for (int round = 0; round < Rounds; round++)
        {
            (LinkConnection dialled, LinkConnection accepted) = links.Pair(settings);
            var (sender, receiver) = (new QueueTraffic(), new QueueTraffic());
            dialled.Run(sender);
            accepted.Run(receiver);
            Exception? thrown = null;
            Thread[] nudgers = [
                .. Enumerable.Range(0, 2).Select(_ => new Thread(() => thrown ??= Record.Exception(() => NudgeOn(dialled, sender))))];
            foreach (Thread nudger in nudgers) nudger.Start();
            Deadline.Await(() => receiver.ReceivedBytes > 0, "bytes");
            accepted.Close("cut");
            foreach (Thread nudger in nudgers) nudger.Join();
            Assert.Null(thrown);
            Assert.Null(sender.Fault);
            Assert.Equal(1, sender.EndedCount);
        }
    }

    private static void NudgeOn(LinkConnection link, QueueTraffic traffic)
    {
        for (int more = 100; more > 0; more -= traffic.EndedCount) // a while longer than it lives
        {
            traffic.Queue(new byte[20_000]);
            link.Nudge();
        }
    }

    [Fact]
    public void Wake_OneMessageAtATime_LosesNone() => Assert.True(PingPong(Signal.Wake, 20_000, Deadline.Generous));

    [Fact]
    public void NudgeAndWake_Mixed_LoseNone() => Assert.True(PingPong(Signal.Either, 20_000, Deadline.Generous));

    [Fact]
    public void NudgeAndWake_ThroughTls_LoseNone() => Assert.True(PingPong(Signal.Either, 10_000, Deadline.Generous, s_throughTls));

    // The next message is queued as soon as the last one is taken, some nanoseconds sooner or later: while the out thread is about to park.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Signal_WhileTheOutThreadParks_IsNotLost(bool nudge)
    {
        const int Messages = 100_000;
        using var links = new LoopbackLinks(s_silent);
        (LinkConnection dialled, LinkConnection accepted) = links.Pair(s_silent);
        var (sender, receiver) = (new QueueTraffic(), new QueueTraffic());
        dialled.Run(sender);
        accepted.Run(receiver);
        var random = new Random(5);
        var spin = new SpinWait();
        var watch = System.Diagnostics.Stopwatch.StartNew();
        for (int i = 1; i <= Messages; i++)
        {
            sender.Queue((byte)i);
            Give(dialled, nudge && i % 2 == 0 ? Signal.Nudge : Signal.Wake, i);
            for (spin.Reset(); sender.TakenBytes < i; spin.SpinOnce(sleep1Threshold: -1))
                Assert.True(watch.Elapsed < Deadline.Generous, $"message {i} is stuck");
            Thread.SpinWait(random.Next(60));
        }
        dialled.CloseAfterSending("done");
        Deadline.Await(() => receiver.EndedCount == 1, "the end");
        Assert.Equal(Messages, receiver.ReceivedBytes);
        Assert.Null(sender.Fault);
    }

    [Fact]
    public void Control_WithoutASignal_TheMessageIsFoundMissing() => Assert.False(PingPong(Signal.Nothing, 1_000, TimeSpan.FromSeconds(2)));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Nudge_FromManyThreadsAgainstTheOutThread_KeepsEveryMessageWholeAndInOrder(bool throughTls)
    {
        const int Threads = 3, Messages = 8_000;
        LinkSettings settings = throughTls ? s_throughTls : s_silent;
        using var links = new LoopbackLinks(settings);
        (LinkConnection dialled, LinkConnection accepted) = links.Pair(settings);
        var (sender, receiver) = (new QueueTraffic(), new QueueTraffic());
        dialled.Run(sender);
        accepted.Run(receiver);
        int queuedBytes = 8;
        Thread[] producers = [.. Enumerable.Range(0, Threads).Select(t => new Thread(() =>
        {
            var random = new Random(t);
            for (int i = 0; i < Messages; i++)
            {
                // thread, number, then a filler that makes the socket full at times
                byte[] message = new byte[8 + (random.Next(50) == 0 ? 60_000 : random.Next(200))];
                message[0] = (byte)t;
                message[1] = (byte)(message.Length >> 16);
                BinaryPrimitives.WriteUInt16LittleEndian(message.AsSpan(2), (ushort)message.Length);
                BinaryPrimitives.WriteInt32LittleEndian(message.AsSpan(4), i);
                message.AsSpan(8).Fill((byte)i);
                Interlocked.Add(ref queuedBytes, message.Length);
                sender.Queue(message);
                Give(dialled, (Signal)random.Next(3), i);
            }
        }))];
        foreach (Thread producer in producers) producer.Start();
        foreach (Thread producer in producers) producer.Join();
        sender.Queue(0xFF, 0, 8, 0, 0, 0, 0, 0);
        dialled.Nudge();
        Deadline.Await(() => receiver.ReceivedBytes == queuedBytes, "all messages");
        dialled.Close("done");
        Assert.Null(sender.Fault);
        AssertWholeAndInOrder(receiver.TakeReceived(), Threads, Messages);
    }

    private static void AssertWholeAndInOrder(ReadOnlySpan<byte> stream, int threads, int messages)
    {
        int[] next = new int[threads];
        while (stream[0] != 0xFF)
        {
            int length = (stream[1] << 16) | BinaryPrimitives.ReadUInt16LittleEndian(stream[2..]);
            int number = BinaryPrimitives.ReadInt32LittleEndian(stream[4..]);
            Assert.Equal(next[stream[0]]++, number);
            Assert.Equal(-1, stream[8..length].IndexOfAnyExcept((byte)number));
            stream = stream[length..];
        }
        Assert.Equal(8, stream.Length);
        Assert.All(next, count => Assert.Equal(messages, count));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Nudge_OfMoreThanTheSocketTakes_IsFinishedByTheOutThread(bool throughTls)
    {
        LinkSettings settings = throughTls ? s_throughTls : s_silent;
        using var links = new LoopbackLinks(settings);
        (LinkConnection dialled, LinkConnection accepted) = links.Pair(settings);
        var (sender, receiver) = (new QueueTraffic(), new QueueTraffic());
        dialled.Run(sender);
        byte[] big = new byte[30_000_000];
        new Random(1).NextBytes(big);
        sender.Queue(big);
        dialled.Nudge();
        accepted.Run(receiver);
        Deadline.Await(() => receiver.ReceivedBytes == big.Length, "all bytes");
        Assert.Equal(big, receiver.TakeReceived());
        dialled.Close("done");
    }

    [Fact]
    public void Nudge_AgainstClose_NeverTouchesTheTrafficAfterItsEnd()
    {
        using var links = new LoopbackLinks(s_silent);
        for (int round = 0; round < 60; round++)
        {
            (LinkConnection dialled, LinkConnection accepted) = links.Pair(s_silent);
            var (sender, receiver) = (new QueueTraffic(), new QueueTraffic());
            dialled.Run(sender);
            accepted.Run(receiver);
            var nudger = new Thread(() =>
            {
                while (sender.EndedCount == 0)
                {
                    sender.Queue(1, 2, 3);
                    dialled.Nudge();
                }
                dialled.Nudge();
            });
            nudger.Start();
            Deadline.Await(() => receiver.ReceivedBytes > 100 * round, "traffic");
            (round % 2 == 0 ? dialled : accepted).Close("done");
            nudger.Join();
            Assert.Null(sender.Fault);
        }
    }
}
