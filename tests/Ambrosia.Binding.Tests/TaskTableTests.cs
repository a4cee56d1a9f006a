using Ambrosia.AppChannel;
using Ambrosia.Protocol;
using Ambrosia.Pumps;
using Ambrosia.Tasks;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests;

/// <summary>Which bodies of tasks ran when the app's process died, and what follows for each (protocol P5.26).</summary>
public sealed class TaskTableTests : IDisposable
{
    private static readonly byte[] s_build = new byte[16], s_next = [1, .. new byte[15]];
    private readonly string _path = Path.Combine(Path.GetTempPath(), $"bodies.{Guid.NewGuid():N}");
    private readonly TaskTable _coordinator;

    public TaskTableTests() => _coordinator = TaskTable.Open(_path);

    public void Dispose()
    {
        _coordinator.Dispose();
        File.Delete(_path);
    }

    /// <summary>Runs a process of the app that begins these bodies, and dies.</summary>
    private Dictionary<ulong, BodyStart> Die(byte[] build, params ulong[] tasks)
    {
        using TaskTable app = TaskTable.Open(_path);
        app.Begin(build, tasks.ToHashSet());
        var starts = new Dictionary<ulong, BodyStart>();
        foreach (ulong task in tasks) starts[task] = app.Start(task, new Lsn(4160), $"Shop.Desk.Body{task}");
        _coordinator.Died();
        return starts;
    }

    [Fact]
    public void Body_ThatRanInThreeDeaths_IsSetAsideByName()
    {
        for (int i = 0; i < 3; i++) Assert.Equal(BodyStart.Runs, Die(s_build, 7)[7]);

        TaskBody aside = Assert.Single(_coordinator.All);
        Assert.True(aside.IsAside);
        Assert.Equal((7ul, new Lsn(4160), "Shop.Desk.Body7", 3), (aside.Task, aside.Begun, aside.Name, aside.Deaths));
        Assert.Equal(BodyStart.IsAside, Die(s_build, 7)[7]);
    }

    [Fact]
    public void Bodies_ThatRanTogether_AreTriedOneAfterAnotherAndOneIsFound()
    {
        for (int i = 0; i < 3; i++) Die(s_build, 3, 4, 5);
        Assert.DoesNotContain(_coordinator.All, static body => body.IsAside);

        // The first one is harmless and ends; the second ends the process.
        using (TaskTable app = TaskTable.Open(_path))
        {
            app.Begin(s_build, new HashSet<ulong> { 3, 4, 5 });
            Assert.Equal(BodyStart.RunsAsSuspect, app.Start(3, Lsn.Zero, ""));
            Assert.Equal(BodyStart.WaitsForAnother, app.Start(4, Lsn.Zero, ""));
            Assert.Equal(BodyStart.WaitsForAnother, app.Start(5, Lsn.Zero, ""));
            app.End(3);
            Assert.Equal(BodyStart.RunsAsSuspect, app.Start(4, Lsn.Zero, ""));
            _coordinator.Died();
        }
        Assert.Equal(4ul, Assert.Single(_coordinator.All, static body => body.IsAside).Task);
        Assert.Equal(BodyStart.Runs, Die(s_build, 4, 5)[5]);
    }

    [Fact]
    public void Body_OfAnotherBuild_BeginsAnew()
    {
        for (int i = 0; i < 3; i++) Die(s_build, 7);
        Assert.Equal(BodyStart.Runs, Die(s_next, 7)[7]);
        Assert.Equal(1, Assert.Single(_coordinator.All).Deaths);
    }

    [Fact]
    public void Body_ThatEnded_OrWasEndedFromOutside_IsNoSuspect()
    {
        using TaskTable app = TaskTable.Open(_path);
        app.Begin(s_build, new HashSet<ulong>());
        app.Start(1, Lsn.Zero, "");
        app.Start(2, Lsn.Zero, "");
        Assert.True(_coordinator.HasRunning);
        app.End(1);
        _coordinator.Ended();
        Assert.False(_coordinator.HasRunning);
        Assert.Empty(_coordinator.Died());
    }

    [Fact]
    public void Retry_LetsTheBodyRunAgain()
    {
        for (int i = 0; i < 3; i++) Die(s_build, 7);
        Assert.False(_coordinator.Retry(8));
        Assert.True(_coordinator.Retry(7));
        Assert.Equal(BodyStart.Runs, Die(s_build, 7)[7]);
    }

    [Fact]
    public void Bodies_BeyondTheSlots_RunAndAreNotInTheTable()
    {
        using TaskTable app = TaskTable.Open(_path);
        app.Begin(s_build, new HashSet<ulong>());
        for (ulong task = 1; task <= TaskTable.Slots + 5; task++) Assert.Equal(BodyStart.Runs, app.Start(task, Lsn.Zero, new string('é', 300)));
        Assert.Equal(TaskTable.Slots, _coordinator.All.Count);
        app.End(TaskTable.Slots + 5);
        app.End(1);
        Assert.Equal(TaskTable.Slots - 1, _coordinator.All.Count);
    }

    /// <summary>What is no such file, or half of one, is made anew.</summary>
    [Fact]
    public void Open_OfAnotherFile_BeginsEmpty()
    {
        string path = _path + ".other";
        File.WriteAllText(path, "something else");
        using (TaskTable table = TaskTable.Open(path)) Assert.Empty(table.All);
        File.Delete(path);
    }

    /// <summary>While the replica stops, no body begins; one that is set aside begins when it may.</summary>
    [Fact]
    public void Threads_OfAStoppingReplica_BeginNoBody()
    {
        var threads = new TaskThreads(new FakeTime(), _path, s_build, static _ => { });
        threads.BecomePrimary(new HashSet<ulong>());
        using var begun = new SemaphoreSlim(0);
        Task Work()
        {
            begun.Release();
            return Task.CompletedTask;
        }
        threads.StartBody(new BodyOfTask(1, 0, "one"), Work);
        Assert.True(begun.Wait(TimeSpan.FromSeconds(30)));

        _coordinator.IsDraining = true;
        threads.StartBody(new BodyOfTask(2, 0, "two"), Work);

        Assert.Equal(1ul, Assert.Single(_coordinator.All).Task);
        Assert.Equal(0, begun.CurrentCount);
    }

    /// <summary>A body that takes long holds up the other suspects for a while alone.</summary>
    [Fact]
    public void Threads_WithASuspectThatRunsForLong_RunTheNextOne()
    {
        for (int i = 0; i < 3; i++) Die(s_build, 1, 2);
        var clock = new FakeTime();
        var threads = new TaskThreads(clock, _path, s_build, static _ => { });
        threads.BecomePrimary(new HashSet<ulong> { 1, 2 });
        using var begun = new SemaphoreSlim(0);
        foreach (ulong task in new ulong[] { 1, 2 })
            threads.StartBody(new BodyOfTask(task, 0, "body"), () =>
            {
                begun.Release();
                return Task.CompletedTask;
            });
        Assert.True(begun.Wait(TimeSpan.FromSeconds(30)));
        clock.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal(0, begun.CurrentCount);

        clock.Advance(TimeSpan.FromSeconds(2));

        Assert.True(begun.Wait(TimeSpan.FromSeconds(30)));
        _coordinator.Died();
        Assert.Equal(2ul, Assert.Single(_coordinator.All, static body => body.IsAside).Task);
    }

    [Fact]
    public void Threads_WithABodyThatIsSetAside_RunItWhenAnOperatorSaysSo()
    {
        for (int i = 0; i < 3; i++) Die(s_build, 7);
        var clock = new FakeTime();
        var lines = new List<string>();
        var threads = new TaskThreads(clock, _path, s_build, lines.Add);
        threads.BecomePrimary(new HashSet<ulong> { 7 });
        using var begun = new SemaphoreSlim(0);
        threads.StartBody(new BodyOfTask(7, 4160, "Shop.Desk.Body7"), () =>
        {
            begun.Release();
            return Task.CompletedTask;
        });
        Assert.Contains("Task 7 is set aside", Assert.Single(lines), StringComparison.Ordinal);
        clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, begun.CurrentCount);

        _coordinator.Retry(7);
        clock.Advance(TimeSpan.FromSeconds(1));

        Assert.True(begun.Wait(TimeSpan.FromSeconds(30)));
    }
}
