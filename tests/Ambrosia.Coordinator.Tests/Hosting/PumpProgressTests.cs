using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;
using Microsoft.Extensions.Logging.Abstractions;

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
        using var pump = new OutputPump(
            node.Parts.Links.Admission.TellOutputs, () => node.Parts.Links.Admission.HasOutputs, static (_, _) => { }, progress);
        pump.Wake();
        Assert.True(entered.Wait(s_patience));
        node.Time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal("outputs", Assert.Single(progress.LongerThan(TimeSpan.FromSeconds(1))).Pump);
        mayGoOn.Set();
        Assert.True(SpinWait.SpinUntil(() => progress.LongerThan(TimeSpan.Zero).Count == 0, s_patience));
    }

    /// <summary>
    /// Links are told of what waits for them, also where the system has no thread for it: the app is not kept waiting for one. It stands
    /// here since the other test of this pump starts its thread.
    /// </summary>
    [Fact]
    public void OutputPump_WhereNoThreadIsGiven_TellsByItselfUntilThereIsOne()
    {
        int waiting = 0, told = 0;
        string? teller = null;
        using var all = new ManualResetEventSlim(false);
        bool Tell()
        {
            int some = Interlocked.Exchange(ref waiting, 0);
            if (some == 0) return false;
            teller = Thread.CurrentThread.Name;
            if (Interlocked.Add(ref told, some) == 5) all.Set();
            return true;
        }
        using var pump = new OutputPump(
            Tell, () => Volatile.Read(ref waiting) > 0, static (code, why) => Assert.Fail($"{code}: {why}"),
            new PumpProgress(TimeProvider.System));
        using (RefusedThreads.Named("outputs"))
        {
            Volatile.Write(ref waiting, 2);
            pump.Wake();
            Assert.Equal(2, told);
            Assert.NotEqual("outputs", teller);
        }
        Volatile.Write(ref waiting, 3);
        pump.Wake();
        Assert.True(all.Wait(TimeSpan.FromMinutes(1)));
        Assert.Equal("outputs", teller);
    }

    /// <summary>The pump that meets other machines' replicas is found where it hangs, and not where it waits for the other side.</summary>
    [Fact]
    public void CoherencePump_ThatHangs_IsAtWork_AndThatWaitsForTheOtherSide_IsNot()
    {
        using var log = new OpenedLog();
        var time = new FakeTime();
        using var mayGoOn = new ManualResetEventSlim(true);
        var progress = new PumpProgress(time) { Began = _ => mayGoOn.Wait(s_patience) };
        var rule = new CoherenceRule(log.Disk, OpenedLog.Directory, log.Identity, new MountId(Guid.NewGuid(), 1), isAlone: false);
        using var asks = new CoherencePump(rule, "r1", static () => null, static (_, _) => { }, NullLogger.Instance, progress);
        asks.Start();
        Assert.True(SpinWait.SpinUntil(() => log.Disk.Exists($"{OpenedLog.Directory}/meet.r1.first"), s_patience)); // and nobody comes
        time.Advance(TimeSpan.FromSeconds(2));
        Assert.True(SpinWait.SpinUntil(() => progress.LongerThan(TimeSpan.Zero).Count == 0, s_patience));

        mayGoOn.Reset();
        Assert.True(SpinWait.SpinUntil(() =>
        {
            time.Advance(TimeSpan.FromSeconds(2));
            return progress.LongerThan(TimeSpan.FromSeconds(60)).Count > 0;
        }, s_patience));
        Assert.Equal("coherence", Assert.Single(progress.LongerThan(TimeSpan.FromSeconds(60))).Pump);
        mayGoOn.Set();
        using var comes = new CoherencePump(rule, "r0", () => log.Epoch, static (_, _) => { }, NullLogger.Instance, progress);
        comes.Start();
        Assert.True(SpinWait.SpinUntil(() => rule.MayFollow(log.Epoch), s_patience));
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
