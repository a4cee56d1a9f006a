using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A reader that is stopped keeps its lock; a primary names it in its status, and goes on without it at the limit.</summary>
public sealed class HoldLimitTests
{
    private const ulong Many = 3_000;
    private const string First = $"{Node.Directory}/log.1.1";

    [Fact]
    public void Status_SegmentHeldByAStoppedReader_NamesItUntilItGoesAtTheLimit()
    {
        LogOptions options = OpenedLog.Small with { Pages = 4, SegmentBytes = 64 << 10 };
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var random = new SimulatedRandom(3);
        var primary = new Node(disk, time, options);
        var app = new CountingApp(primary, random, Many);
        SimulatedProcess stopped = disk.ForProcess("stopped");
        using IFile reader = stopped.Open(First, FileUse.Read);
        Assert.True(reader.TryLock(FileLockKind.Shared));

        ulong asked = 100;
        while (Held(primary) is null) Work();
        DateTimeOffset since = time.GetUtcNow();
        JsonNode held = Held(primary)!;
        Assert.Equal("log.1.1", (string?)held["segment"]);
        Assert.InRange((long)held["bytes"]!, 1, (long)primary.Parts.Log.Durable.Value);
        Assert.InRange((long)held["since"]!, 1, (since - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond);
        Assert.True(stopped.Exists(First));
        Assert.Contains(primary.Lines, static line => line.Contains("is held by a reader", StringComparison.Ordinal));

        time.Advance(TimeSpan.FromMinutes(61));
        while (stopped.Exists(First)) Work();
        while (Held(primary) is not null) Work();
        Assert.Contains(primary.Lines,
            static line => line.Contains("log.1.1 is removed although a reader holds it", StringComparison.Ordinal));

        void Work()
        {
            Assert.True(app.Executed < Many, $"the reader is dealt with: {string.Join("; ", primary.Lines)}");
            if (app.Executed >= asked) { app.Ask(); asked += 100; }
            switch (random.Next(12))
            {
                case 0: primary.Parts.Tick(isQuiet: false); time.Advance(TimeSpan.FromMilliseconds(100)); primary.Parts.CheckFence(); break;
                case 1: primary.Parts.Checkpoints.Step(); primary.Parts.Log.PrepareSpace(); break;
                case 2 or 3: primary.Parts.Committer.Step(); break;
                default: app.Step(); break;
            }
        }
    }

    private static JsonNode? Held(Node node)
    {
        var commands = new AdminCommands();
        node.Parts.AddCommands(commands);
        return commands.Begin(Encoding.UTF8.GetBytes("""{"command":"status"}""")).Next(out _)!["log"]!["held"];
    }
}
