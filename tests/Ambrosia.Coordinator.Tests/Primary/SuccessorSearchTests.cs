using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Whom a primary that ends takes for its successor: a replica that moves and is near, and no other that merely runs.</summary>
public sealed class SuccessorSearchTests : IDisposable
{
    private static readonly Lsn s_stated = new(5000);

    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly List<ReplicaLock> _locks = [];
    private readonly Node _primary;

    public SuccessorSearchTests() => _primary = new Node(_disk, _time, OpenedLog.Small);

    [Fact]
    public void Look_ReplicaThatMovesAndIsNear_NamesIt()
    {
        ReplicaLock near = Run("r1", s_stated);
        SuccessorSearch search = New();
        Assert.Empty(search.Look());
        Assert.False(search.IsOver);
        near.PublishMove(s_stated);
        Assert.Equal(["r1"], search.Look());
    }

    /// <summary>One that is stopped, or hangs, has executed all there is, and has published its address.</summary>
    [Fact]
    public void Look_ReplicaThatStandsStill_GivesUpAtTheLimitAndNamesIt()
    {
        Run("r1", s_stated).PublishAddress("127.0.0.1:5000");
        SuccessorSearch search = New();
        Assert.Empty(search.Look());
        _time.Advance(TimeSpan.FromSeconds(3.9));
        Assert.Empty(search.Look());
        Assert.False(search.IsOver);
        _time.Advance(TimeSpan.FromSeconds(0.1));
        Assert.Empty(search.Look());
        Assert.Equal((true, "r1 stands still"), (search.IsOver, search.WhyNone));
    }

    [Fact]
    public void Look_ReplicaThatIsFarBehind_IsWaitedForAndSaysHowFar()
    {
        ReplicaLock far = Run("r1", new Lsn(1000));
        SuccessorSearch search = New();
        search.Look();
        far.PublishMove(new Lsn(2000));
        Assert.Empty(search.Look());
        Assert.Equal((false, "r1 has 3000 bytes of the log left to execute"), (search.IsOver, search.WhyNone));
        _time.Advance(TimeSpan.FromSeconds(4));
        Assert.Empty(search.Look());
        Assert.True(search.IsOver);
        far.PublishMove(s_stated);
        Assert.Equal(["r1"], search.Look());
    }

    /// <summary>It waits with another build, has no app, or ends: nothing comes of waiting for it.</summary>
    [Fact]
    public void Look_ReplicaThatCouldNotGoOn_GivesUpAtOnce()
    {
        ReplicaLock idle = Run("r1", Lsn.Zero);
        SuccessorSearch search = New();
        search.Look();
        idle.PublishMove(Lsn.Zero);
        Assert.Empty(search.Look());
        Assert.Equal((true, "r1 could not go on now: 'ambrosia status' says why"), (search.IsOver, search.WhyNone));
    }

    /// <summary>What the process of that name before it has written says nothing of this one.</summary>
    [Fact]
    public void Look_ReplicaThatHasJustStarted_GivesUpAtOnce()
    {
        ReplicaLock before = Run("r1", s_stated);
        _locks.Remove(before);
        before.Dispose();
        _locks.Add(ReplicaLock.TryTake(_disk.ForProcess("again"), Node.Directory, "r1")!);
        SuccessorSearch search = New();
        Assert.Empty(search.Look());
        Assert.Equal((true, "r1 does not say yet that it follows"), (search.IsOver, search.WhyNone));
    }

    [Fact]
    public void Look_NoOtherRuns_IsOverAtOnce()
    {
        SuccessorSearch search = New();
        Assert.Empty(search.Look());
        Assert.Equal((true, "no other replica runs", false), (search.IsOver, search.WhyNone, search.HasSeenAny));
    }

    [Fact]
    public void Look_OneStandsStillAndAnotherFollows_NamesTheOther()
    {
        Run("r1", s_stated);
        ReplicaLock moves = Run("r2", s_stated);
        SuccessorSearch search = New();
        search.Look();
        moves.PublishMove(new Lsn(5001));
        Assert.Equal(["r2"], search.Look());
    }

    [Fact]
    public void Retire_StandbyStandsStill_IsRefusedWithItsName()
    {
        Run("r1", s_stated);
        bool stops = false;
        IAdminReply retire = RetireCommand.Begin([], New(), static () => ["r1"], TimeSpan.Zero, () => stops = true);
        Assert.Null(retire.Next(out bool isLast));
        Assert.False(isLast);
        _time.Advance(TimeSpan.FromSeconds(4));
        string? why = (string?)retire.Next(out isLast)!["error"];
        Assert.Contains("no other replica can follow it: r1 stands still", why, StringComparison.Ordinal);
        Assert.Equal((true, false), (isLast, stops));
        Assert.True((bool)RetireCommand.Begin(new() { ["force"] = true }, New(), static () => ["r1"], TimeSpan.Zero, () => stops = true)
            .Next(out _)!["retiring"]!);
        Assert.True(stops);
    }

    [Fact]
    public void Retire_StandbyFollows_EndsAndNamesIt()
    {
        ReplicaLock near = Run("r1", s_stated);
        Run("r2", s_stated);
        bool stops = false;
        IAdminReply retire = RetireCommand.Begin([], New(), static () => [], TimeSpan.Zero, () => stops = true);
        Assert.Null(retire.Next(out _));
        near.PublishMove(s_stated);
        Assert.Equal("""["r1"]""", retire.Next(out _)!["successors"]!.ToJsonString());
        Assert.True(stops);
    }

    /// <summary>
    /// A standby that has caught up once, and stands still now, is no reason to end without a checkpoint; nor is it waited for where it has
    /// the duty to take one.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void CleanEnd_StandbyStandsStillOrMoves_TakesTheCheckpointOrHandsOver(bool moves)
    {
        var random = new SimulatedRandom(5);
        var app = new CountingApp(_primary, random, 50);
        void Step()
        {
            _time.Advance(TimeSpan.FromMilliseconds(20));
            _primary.Parts.Tick(isQuiet: true);
            _primary.Parts.Checkpoints.Step();
            _primary.Commit();
            app.Step();
        }
        for (int i = 0; app is not { Executed: 50, IsQuiet: true } || _primary.Parts.Log.MarkDue; i++)
        {
            Assert.True(i < 100_000, "the app comes to rest");
            Step();
        }
        ReplicaLock standby = Run("r1", _primary.Parts.Durable);
        standby.PublishAddress("127.0.0.1:5000");
        app.Ask(); // the mark names the standby, which shows nothing for it
        for (int i = 0; i < 20; i++) Step();
        CleanEnd end = _primary.Parts.BeginCleanEnd();
        TimeSpan begun = _time.GetElapsedTime(0);
        for (int i = 0; end.Next(_time.GetElapsedTime(0) - begun) != CleanEndStep.Over; i++)
        {
            Assert.True(i < 10_000, "it ends");
            if (moves) standby.PublishMove(_primary.Parts.Durable);
            Step();
        }
        string[] files = [.. _disk.ForProcess("look").List(Node.Directory)];
        Assert.Equal(!moves, files.Any(static file => file.StartsWith("ckpt.", StringComparison.Ordinal)));
        Assert.Contains(moves ? "replica r1 has caught up and goes on" : "no replica goes on at once (r1 stands still), so a last checkpoint is taken",
            _primary.Lines);
    }

    /// <summary>
    /// A secondary says that it moves; without an app, and from the moment at which it is asked to end, it says that it could not go on.
    /// </summary>
    [Fact]
    public void Secondary_WithoutAnAppOrAskedToEnd_SaysThatItCouldNotGoOn()
    {
        var random = new SimulatedRandom(6);
        var first = new CountingApp(_primary, random, 50);
        for (int i = 0; first.Executed < 50 || _primary.Parts.Log.Stated == Lsn.Zero; i++)
        {
            Assert.True(i < 100_000, "the app gets on");
            first.Step();
            _primary.Parts.Tick(isQuiet: true);
            _primary.Commit();
        }
        var secondary = new Node(_disk, _time, OpenedLog.Small, "r1");
        var told = new List<Lsn>();
        SecondaryRole role = secondary.NewRole(told.Add);
        Lsn Told()
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            int before = told.Count;
            role.Step(_time.GetElapsedTime(0), CancellationToken.None);
            Assert.True(told.Count > before, "it says that it moves");
            return told[^1];
        }
        Assert.Equal(Lsn.Zero, Told());
        var app = new CountingApp(secondary, random, 50);
        for (int i = 0; !secondary.Parts.Sessions.IsCaughtUp; i++)
        {
            Assert.True(i < 100_000, "it catches up");
            app.Step();
        }
        Assert.Equal(_primary.Parts.Log.Stated, Told());
        secondary.Parts.BeginCleanEnd();
        Assert.Equal(Lsn.Zero, Told());
    }

    private ReplicaLock Run(string replica, Lsn executed)
    {
        ReplicaLock name = ReplicaLock.TryTake(_disk.ForProcess(replica), Node.Directory, replica)!;
        _locks.Add(name);
        name.PublishMove(executed);
        return name;
    }

    private SuccessorSearch New() => new(_primary.InputsOf("r0"), s_stated);

    public void Dispose()
    {
        foreach (ReplicaLock each in _locks) each.Dispose();
        _primary.Parts.Dispose();
    }
}
