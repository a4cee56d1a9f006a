using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Whoever asks for a checkpoint is told when there is one, why there is none, or what is waited for.</summary>
public sealed class CheckpointCommandTests
{
    private static readonly Lsn s_durable = new(4096);

    private readonly FakeTime _time = new();
    private readonly CheckpointTrigger _trigger = new(1000);

    [Fact]
    public void Next_OneIsPublished_NamesIt()
    {
        IAdminReply asked = Begin();
        Assert.Null(asked.Next(out bool isLast));
        Assert.False(isLast);
        _trigger.Published(new CheckpointFileName(s_durable, new Epoch(1), "r0"));
        Assert.Equal(s_durable.Value, (ulong)asked.Next(out isLast)!["lsn"]!);
        Assert.True(isLast);
    }

    /// <summary>A call is suspended for minutes in an app that rests: whoever asks took the replica for dead behind a minute.</summary>
    [Fact]
    public void Next_AppWaitsForARest_SaysSoInTime()
    {
        IAdminReply asked = Begin();
        _time.Advance(TimeSpan.FromSeconds(44.9));
        Assert.Null(asked.Next(out _));
        _time.Advance(TimeSpan.FromSeconds(0.1));
        Assert.Contains("where no call is suspended, or with what is suspended once", (string?)asked.Next(out bool isLast)!["error"],
            StringComparison.Ordinal);
        Assert.True(isLast);
    }

    private IAdminReply Begin() => CheckpointCommand.Begin(
        UpgradeRehearsalTests.InputsOf(new SimulatedFileSystem(), _time), _trigger, s_durable, hasApp: true);
}
