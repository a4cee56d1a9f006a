using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// A log that was put back with its catalog: no name and no epoch shows it, but a replica that runs has executed more than there is.
/// </summary>
public sealed class FurtherReplicasTests : IDisposable
{
    private static readonly LogOptions s_options = OpenedLog.Small with { Pages = 4 };
    private static readonly Lsn s_further = new(1 << 20);

    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly List<ReplicaLock> _locks = [];
    private readonly Node _first;

    public FurtherReplicasTests() => _first = new Node(_disk, _time, s_options);

    [Fact]
    public void Start_WhereARunningReplicaHasExecutedMore_EndsWith75()
    {
        _first.Kill();
        Run("r1", s_further);
        var older = Assert.Throws<LogPutBackException>(Again);
        Assert.Contains($"replica r1, which runs, has executed it up to {s_further}", older.Message, StringComparison.Ordinal);
        Assert.Equal(ExitCodes.NotPrimary, ExitCodes.Of(older));
    }

    /// <summary>What a replica has left that does not run says nothing: its file may be older or newer than the log.</summary>
    [Fact]
    public void Start_WhereThatReplicaHasEnded_GoesOn()
    {
        _first.Kill();
        Run("r1", s_further).Dispose();
        Assert.NotNull(Again());
    }

    /// <summary>One that was cut off, or stood still, comes back later.</summary>
    [Fact]
    public void Tick_WhereAReplicaComesThatHasExecutedMore_EndsWithinASecond()
    {
        ReplicaLock other = Run("r1", _first.Parts.Log.TailPageEnd);
        Tick(_first);
        other.PublishMove(_first.Parts.Log.TailPageEnd + 1);
        Assert.Throws<LogPutBackException>(() => Tick(_first));
    }

    private Node Again() => new(_disk, _time, s_options);

    private void Tick(Node node)
    {
        _time.Advance(TimeSpan.FromSeconds(1));
        node.Parts.Tick(isQuiet: false);
    }

    private ReplicaLock Run(string name, Lsn executed)
    {
        ReplicaLock taken = ReplicaLock.TryTake(_disk.ForProcess(name), Node.Directory, name)!;
        _locks.Add(taken);
        taken.PublishMove(executed);
        return taken;
    }

    public void Dispose()
    {
        foreach (ReplicaLock taken in _locks) taken.Dispose();
    }
}
