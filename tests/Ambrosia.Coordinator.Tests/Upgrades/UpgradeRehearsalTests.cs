using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A replica tries its upgrade on a copy of the state until it works, or until its time is over.</summary>
public sealed class UpgradeRehearsalTests
{
    private static readonly TimeSpan s_within = TimeSpan.FromMinutes(1);

    private readonly FakeTime _time = new();
    private readonly List<ConvertFrame> _asked = [];
    private readonly UpgradeRehearsal _rehearsal;
    private int _passed;
    private bool _isDue = true;

    public UpgradeRehearsalTests()
    {
        CoordinatorInputs inputs = InputsOf(new SimulatedFileSystem(), _time);
        _rehearsal = new UpgradeRehearsal(inputs, inputs.Options.Upgrade!, _asked.Add) { IsDue = () => _isDue };
        _rehearsal.Passed += () => _passed++;
        _time.Advance(TimeSpan.FromSeconds(1));
    }

    /// <summary>The inputs of a replica that is to make an upgrade to version 2.</summary>
    internal static CoordinatorInputs InputsOf(SimulatedFileSystem disk, FakeTime time) => new()
    {
        Options = new CoordinatorOptions
        {
            LogDirectory = "/data/log", Catalog = CatalogPlace.OfDirectory("/data/catalog"), Instance = "bank",
            Upgrade = new UpgradeOptions(2) { Within = s_within, OldApp = ["v1"] },
        },
        Identity = new InstanceIdentity("bank", 0, Guid.NewGuid(), 1), Files = disk.ForProcess("p"), AppToken = new byte[32],
        Time = time, Random = static () => 0.5, Pumps = new HandPumps(), Logger = EventRecorder.OfTexts(static _ => { }),
    };

    /// <summary>An app that hangs in its conversion answers nothing: the time for it ends all the same.</summary>
    [Fact]
    public void Tick_AppDoesNotAnswer_EndsWhenItsTimeIsOver()
    {
        Assert.False(Tick());
        Assert.Single(_asked);
        _time.Advance(s_within - TimeSpan.FromMilliseconds(1));
        Assert.False(Tick());
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(Tick());
        Assert.Single(_asked); // it is not asked while it has not answered
        Assert.Null(_rehearsal.Why);
    }

    [Fact]
    public void Tick_AppRefuses_IsAskedAgainUntilItsTimeIsOver()
    {
        Assert.False(Tick());
        Answer("cents are out of fashion");
        Assert.False(Tick());
        Assert.Single(_asked);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.False(Tick());
        Assert.Equal(2, _asked.Count);
        Answer("cents are out of fashion");
        _time.Advance(s_within);
        Assert.True(Tick());
        Assert.Equal("cents are out of fashion", _rehearsal.Why);
        Assert.False(Tick()); // it says so once
        Assert.Equal(0, _passed);
    }

    /// <summary>
    /// A primary may share its processors with what is refused for long: the longer that is, and the larger the state, the seldomer it is
    /// tried.
    /// </summary>
    [Theory]
    [InlineData(1_000, 2, 1_000)]
    [InlineData(1_000, 500, 2_500)]
    [InlineData(1_000, 9_000, 30_000)]
    [InlineData(25_000, 100, 2_510)]
    public void Tick_Refused_RestsByWhatItTookAndHowLongItIsRefused(int refusedMs, int tookMs, int restMs)
    {
        Tick();
        Answer("cents are out of fashion");
        _time.Advance(TimeSpan.FromMilliseconds(refusedMs));
        Tick();
        _time.Advance(TimeSpan.FromMilliseconds(tookMs));
        Answer("cents are out of fashion");
        _time.Advance(TimeSpan.FromMilliseconds(restMs - 1));
        Tick();
        Assert.Equal(2, _asked.Count);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Tick();
        Assert.Equal(3, _asked.Count);
    }

    /// <summary>The first time is slow, since the app compiles its code, and says too much of how long callers will wait.</summary>
    [Fact]
    public void Answered_ItWorksOftenEnough_PassesOnceAndEndsNothing()
    {
        Work();
        Assert.Equal(1, _passed);
        _time.Advance(s_within);
        Assert.False(Tick());
        Assert.Equal(UpgradeRehearsal.PassesMin, _asked.Count);
    }

    [Fact]
    public void Answered_ItWorksAndThenDoesNot_BeginsAgain()
    {
        Tick();
        Answer("");
        _time.Advance(TimeSpan.FromSeconds(1));
        Tick();
        Answer("cents are out of fashion");
        for (int i = 0; i < UpgradeRehearsal.PassesMin; i++)
        {
            Assert.Equal(0, _passed);
            _time.Advance(TimeSpan.FromSeconds(1));
            Tick();
            Answer("");
        }
        Assert.Equal(1, _passed);
    }

    /// <summary>Another replica has made the upgrade meanwhile: nobody takes over from it.</summary>
    [Fact]
    public void Answered_UpgradeWasMadeMeanwhile_PassesNothing()
    {
        _isDue = false;
        Work();
        Assert.Equal(0, _passed);
    }

    /// <summary>The app that was asked has died: the next one is asked.</summary>
    [Fact]
    public void SessionEnded_WhileItIsAsked_AsksTheNextOne()
    {
        Tick();
        _rehearsal.SessionEnded();
        Tick();
        Assert.Equal(2, _asked.Count);
    }

    private void Work()
    {
        for (int i = 0; i < UpgradeRehearsal.PassesMin; i++)
        {
            Tick();
            Answer("");
            _time.Advance(TimeSpan.FromSeconds(1));
        }
    }

    private bool Tick() => _rehearsal.Tick(_time.GetElapsedTime(0), runs: 1);

    private void Answer(string why) => _rehearsal.Answered(new ConvertedFrame(new Lsn(64), ConversionUse.Rehearsal, 8, 9, why));
}
