using System.Collections.Concurrent;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.TestKit;
using Ambrosia.TestKit.Catalogs;

namespace Ambrosia.Coordinator.Tests;

/// <summary>The heartbeat of a primary, while other things block.</summary>
public sealed class BackgroundPumpTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    /// <summary>A catalog on a mount that hangs must not look like a primary that hangs.</summary>
    [Fact]
    public void Fence_WhileTheCatalogHangs_IsCheckedAndBeats()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        using var entered = new ManualResetEventSlim();
        using var mayEnd = new ManualResetEventSlim();
        var lines = new ConcurrentQueue<string>();
        var calls = new BlockingCalls(node.Time, EventRecorder.OfTexts(lines.Enqueue));
        using var catalog = new CatalogPump(
            _ => calls.Make("a call", () => { entered.Set(); mayEnd.Wait(); return 0; }), node.Parts.Links.Table,
            new InMemoryCatalog(static _ => { }), static () => { }, static (_, _) => { });
        using var pump = new BackgroundPump(
            node.Parts, calls, static () => { }, static (_, _) => { }, garbage: null, new PumpProgress(node.Time));
        pump.Start();
        catalog.Start();
        Assert.True(entered.Wait(s_patience));
        ulong before = node.Beat;
        Assert.True(SpinWait.SpinUntil(() => node.Beat >= before + 3, s_patience));
        node.Time.Advance(BlockingCalls.Deadline);
        Assert.True(SpinWait.SpinUntil(() => lines.Count == 1, s_patience));
        mayEnd.Set();
        Assert.True(SpinWait.SpinUntil(() => lines.Count == 2, s_patience));
        Assert.Equal(["a call has taken 5 s and goes on; nothing else waits for it", "a call came back after 5 s"], lines);
    }
}
