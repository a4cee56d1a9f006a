using Ambrosia.Coordinator.Hosting;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Pumps enter what they work at, and leave.</summary>
public sealed class PumpProgressTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    /// <summary>The outputs of many peers have a pump of their own from the first time on.</summary>
    [Fact]
    public void OutputPump_ThatIsWoken_IsAtWorkAndThenAtNone()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        using var entered = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        var progress = new PumpProgress(node.Time)
        {
            Began = name =>
            {
                if (name != "outputs") return;
                entered.Set();
                mayGoOn.Wait(s_patience);
            },
        };
        using var pump = new OutputPump(node.Parts, static (_, _) => { }, progress);
        pump.Wake();
        Assert.True(entered.Wait(s_patience));
        node.Time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal("outputs", Assert.Single(progress.LongerThan(TimeSpan.FromSeconds(1))).Pump);
        mayGoOn.Set();
        Assert.True(SpinWait.SpinUntil(() => progress.LongerThan(TimeSpan.Zero).Count == 0, s_patience));
    }

    [Fact]
    public void Pump_ThatHasEnded_IsNotThereAnyMore()
    {
        var time = new FakeTime();
        var progress = new PumpProgress(time);
        PumpWork one = progress.Enter("one"), other = progress.Enter("other");
        one.Begin();
        time.Advance(TimeSpan.FromSeconds(1));
        other.Begin();
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(["one", "other"], progress.LongerThan(TimeSpan.Zero).Select(static each => each.Pump));
        one.Dispose();
        Assert.Equal(["other"], progress.LongerThan(TimeSpan.Zero).Select(static each => each.Pump));
    }
}
