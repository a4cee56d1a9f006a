using Ambrosia.TestKit;
using CRA.Links;

namespace CRA.Tests;

/// <summary>
/// The whole of CRA over loopback: two ends exchange framed random data both ways while connections are closed under them.
/// </summary>
public sealed class LinkExchangeTests
{
    private const ulong Frames = 2_300; // of about 45 KB on average, some of megabytes: about 100 MB each way

    // Runs until both ends have everything or one finds a fault; returns the number of connections used.
    private static int Exchange(StreamEnd a, StreamEnd b, int randomSeed, LinkSettings? settings = null)
    {
        var random = new Random(randomSeed);
        using var links = new LoopbackLinks(settings);
        int connections = 0;
        while (a.Fault is null && b.Fault is null && (a.Received < b.FramesToSend || b.Received < a.FramesToSend))
        {
            (LinkConnection dialled, LinkConnection accepted) = links.Pair(settings);
            connections++;
            var ofA = new StreamTraffic(a, b, dialled.Seed);
            var ofB = new StreamTraffic(b, a, accepted.Seed);
            StreamEnd watched = random.Next(2) == 0 ? a : b;
            watched.Reached.Reset();
            Volatile.Write(ref watched.Threshold, watched.ReceivedBytes + random.Next(20_000_000));
            dialled.Run(ofA, "b");
            accepted.Run(ofB, "a");
            Deadline.Await(
                () => watched.Reached.IsSet || a.Fault is not null || b.Fault is not null
                    || (Volatile.Read(ref a.Received) == b.FramesToSend && Volatile.Read(ref b.Received) == a.FramesToSend),
                $"progress (seed {randomSeed}, {a.Received} and {b.Received} frames, {ofA.Why} / {ofB.Why})");
            (random.Next(2) == 0 ? dialled : accepted).Close("closed by the test");
            Deadline.Await(() => ofA.HasEnded && ofB.HasEnded, "the end of both");
            Assert.Contains("closed by the test", new[] { ofA.Why, ofB.Why });
            Volatile.Write(ref watched.Threshold, long.MaxValue);
        }
        Assert.Empty(links.Log);
        return connections;
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(2, false)]
    [InlineData(3, true)]
    public void Exchange_Of100MBWithRandomCloses_DeliversEveryFrameOnceInOrder(int seed, bool throughTls)
    {
        var a = new StreamEnd(seed, Frames);
        var b = new StreamEnd(seed + 100, Frames);
        int connections = Exchange(a, b, seed, throughTls ? new Authority().Settings("other") : null);
        Assert.Null(a.Fault);
        Assert.Null(b.Fault);
        Assert.Equal((Frames, Frames), (a.Received, b.Received));
        Assert.True(connections > 3, $"only {connections} connections");
        Assert.True(Math.Min(a.ReceivedBytes, b.ReceivedBytes) > 80_000_000, $"only {a.ReceivedBytes} and {b.ReceivedBytes} bytes");
    }

    [Fact]
    public void Control_AnEndThatResumesOneTooEarly_IsFound()
    {
        var a = new StreamEnd(1, Frames) { ResumesOneTooEarly = true };
        var b = new StreamEnd(101, Frames);
        Exchange(a, b, 1);
        Assert.StartsWith("frame ", b.Fault, StringComparison.Ordinal);
    }
}
