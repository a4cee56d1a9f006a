using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A promotion comes to an end: it is won, or its time is over, and then it says how far it has come.</summary>
public sealed class PromoteCommandTests
{
    private readonly FakeTime _time = new();
    private ulong _lag;
    private Epoch? _primary;
    private AppWait? _wait;
    private int _claims;

    [Fact]
    public void Next_LagIsSmall_ClaimsOnceAndAnswersWithTheEpoch()
    {
        _lag = PromoteCommand.LagBytesMax + 1;
        IAdminReply promote = Begin();
        Assert.Null(promote.Next(out _));
        Assert.Equal(0, _claims);
        _lag--;
        Assert.Null(promote.Next(out bool isLast));
        Assert.Null(promote.Next(out _));
        Assert.Equal((1, false), (_claims, isLast));
        _primary = new Epoch(2);
        _time.Advance(TimeSpan.FromHours(1)); // won is won
        Assert.Equal(2ul, (ulong)promote.Next(out isLast)!["epoch"]!);
        Assert.True(isLast);
    }

    [Fact]
    public void Next_TimeIsOverBeforeTheClaim_ClaimsNothingAndSaysWhatIsLeft()
    {
        _lag = 10 << 20;
        IAdminReply promote = Begin();
        _time.Advance(TimeSpan.FromSeconds(59.9));
        Assert.Null(promote.Next(out _));
        _time.Advance(TimeSpan.FromSeconds(0.1));
        JsonObject late = promote.Next(out bool isLast)!;
        Assert.True(isLast);
        Assert.Equal((true, false, 0), ((bool)late["late"]!, (bool)late["hasClaimed"]!, _claims));
        Assert.StartsWith("nothing was claimed within 60 s: 10485760 bytes of the log are left", (string?)late["error"]);
    }

    [Fact]
    public void Next_AppHangs_ClaimsNothingAndNamesTheRecord()
    {
        _wait = new AppWait(AppWaitKind.Record, new ExecutingPlace(new Lsn(4160), null), TimeSpan.FromSeconds(12));
        IAdminReply promote = Begin(withinMs: 1000);
        Assert.Null(promote.Next(out _));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Contains("within 1 s: its app has been executing the record at Lsn 4160 for 12 s",
            (string?)promote.Next(out _)!["error"], StringComparison.Ordinal);
        Assert.Equal(0, _claims);
    }

    [Fact]
    public void Next_AppHangsBehindTheClaim_SaysThatTheLogIsClaimed()
    {
        IAdminReply promote = Begin();
        Assert.Null(promote.Next(out _));
        _wait = new AppWait(AppWaitKind.BecomingPrimary, new ExecutingPlace(new Lsn(4160), null), TimeSpan.FromSeconds(50));
        _time.Advance(TimeSpan.FromSeconds(60));
        JsonObject late = promote.Next(out _)!;
        Assert.Equal((true, true, 1), ((bool)late["late"]!, (bool)late["hasClaimed"]!, _claims));
        Assert.StartsWith("it has claimed the log, and 60 s were not enough to open it: its app has been in BecomingPrimary for 50 s",
            (string?)late["error"]);
    }

    [Theory]
    [InlineData("0")]
    [InlineData("-1")]
    [InlineData("86400001")]
    [InlineData("1.5")]
    [InlineData("\"5\"")]
    [InlineData("{}")]
    public void Begin_TimeIsNone_IsRefused(string withinMs)
    {
        var request = (JsonObject)JsonNode.Parse($$"""{"command":"promote","withinMs":{{withinMs}}}""")!;
        Assert.Contains("withinMs", (string?)PromoteCommand.Begin(request, false, Replica, _time).Next(out _)!["error"],
            StringComparison.Ordinal);
    }

    [Fact]
    public void Begin_Primary_IsRefused() =>
        Assert.Contains("primary already", (string?)PromoteCommand.Begin([], true, Replica, _time).Next(out _)!["error"],
            StringComparison.Ordinal);

    /// <summary>A replica of another build than the primary's executes nothing, so it could not be primary either.</summary>
    [Fact]
    public void Begin_ReplicaThatWaits_IsRefusedWithTheReason() =>
        Assert.Contains("this replica waits: its app is another build",
            (string?)PromoteCommand.Begin([], false, Replica with { WaitsBecause = static () => "its app is another build" }, _time)
                .Next(out _)!["error"], StringComparison.Ordinal);

    [Fact]
    public void Next_NoAppHasCome_ClaimsNothingAndSaysSo()
    {
        PromotedReplica noApp = Replica with { Obstacle = static () => "no app has come that may execute the log" };
        IAdminReply promote = PromoteCommand.Begin([], false, noApp, _time);
        Assert.Null(promote.Next(out _));
        _time.Advance(TimeSpan.FromSeconds(60));
        Assert.Contains("nothing was claimed within 60 s: no app has come", (string?)promote.Next(out _)!["error"],
            StringComparison.Ordinal);
        Assert.Equal(0, _claims);
    }

    private PromotedReplica Replica => new(() => _lag, () => _primary, () => _claims++, () => _wait);

    private IAdminReply Begin(long? withinMs = null)
    {
        var request = new JsonObject { ["command"] = "promote" };
        if (withinMs is { } given) request["withinMs"] = given;
        return PromoteCommand.Begin(request, hasLog: false, Replica, _time);
    }
}
