using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>A real log on a simulated disk with the coordinator's pump, whose thread commits when it is woken.</summary>
internal sealed class PumpedLog : IDisposable
{
    private static readonly LogOptions s_options = OpenedLog.Small with { ZeroWindowBytes = 256 << 10 };

    private readonly List<Lsn> _durable = [];
    private readonly CommitPump _pump;
    private string? _failed;

    public PumpedLog()
    {
        Log = Prepared();
        _pump = new CommitPump((code, why) => _failed ??= $"exit {code}: {why}", new PumpProgress(new FakeTime()));
        Appender = new LogAppender(ReplicaLog.Of(Log.Writer), Log.Writer.ReserveBytesMax, _pump.Commit);
    }

    public OpenedLog Log { get; }

    public LogAppender Appender { get; }

    public CommitPump Pump => _pump;

    /// <summary>Opens a log with zeroed space for all that a world writes, so that no commit waits for space.</summary>
    public static OpenedLog Prepared()
    {
        var log = new OpenedLog(options: s_options);
        while (log.Writer.PrepareSpace()) { }
        log.Commit();
        return log;
    }

    /// <summary>Starts the pump's thread.</summary>
    public void Start(Action<Lsn>? advanced = null) => _pump.Start(new Committer(Log.Writer, durable =>
    {
        _durable.Add(durable);
        advanced?.Invoke(durable);
    }));

    /// <summary>All that was appended is durable, and each commit came behind the one before.</summary>
    public void AssertCommitted()
    {
        Assert.Null(_failed);
        Assert.Equal(Log.Writer.Tail, Log.Writer.Durable);
        Assert.Equal(_durable.Distinct().Order(), _durable);
    }

    public void Dispose() => Log.Dispose();
}
