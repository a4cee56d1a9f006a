using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Results of tasks that come while an upgrade has shut the log's doors are kept, and logged behind it in their order.</summary>
public sealed class TaskResultLogTests : IDisposable
{
    private readonly OpenedLog _log = new();
    private readonly TaskResultLog _results;

    public TaskResultLogTests() => _results = new TaskResultLog(_log.Appender, 1 << 20);

    [Fact]
    public void TryAppend_DoorsAreShut_KeepsThemInOrder()
    {
        _log.Appender.Shut(true);
        Assert.True(_results.TryAppend(Result(1)));
        Assert.True(_results.TryAppend(Result(2)));
        Assert.False(_results.TryLog());
        Assert.Empty(Logged());
        _log.Appender.Shut(false);
        Assert.True(_results.TryAppend(Result(3)));
        Assert.True(_results.TryLog());
        Assert.Equal([1UL, 2, 3], Logged());
    }

    [Fact]
    public void TryAppend_MoreThanIsKept_Waits()
    {
        _log.Appender.Shut(true);
        int taken = 0;
        while (_results.TryAppend(Result((ulong)taken + 1, 1 << 20)))
        {
            taken++;
            Assert.InRange(taken, 1, 8);
        }
        _results.SessionEnded();
        _log.Appender.Shut(false);
        Assert.True(_results.TryLog());
        Assert.Empty(Logged());
    }

    private static byte[] Result(ulong task, int bytes = 3)
    {
        byte[] payload = new byte[8 + 1 + bytes];
        BitConverter.TryWriteBytes(payload, task);
        return payload;
    }

    private List<ulong> Logged()
    {
        _log.Commit();
        return [.. _log.Records().Where(static r => r.Kind == RecordKind.NondetResult).Select(static r => BitConverter.ToUInt64(r.Body))];
    }

    public void Dispose() => _log.Dispose();
}
