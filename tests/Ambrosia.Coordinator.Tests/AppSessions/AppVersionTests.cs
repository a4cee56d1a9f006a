using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>The log says which version of the app executes it; an app of another one is given nothing.</summary>
public sealed class AppVersionTests
{
    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();

    [Fact]
    public void Hello_FirstOfANewLog_DecidesItsVersion()
    {
        Node node = NewNode();
        Assert.Equal((Lsn.Zero, 0u), (node.Parts.Log.Tail, node.Parts.Log.AppVersion));
        var app = new SpokenApp(node, version: 3);
        Assert.Equal([RecordKind.FirstStart, RecordKind.Policy, RecordKind.Build], app.Records.Select(static r => r.Kind));
        Assert.Equal(3u, FirstStartRecord.Read(app.Records[0].Body).AppVersion);
        Assert.NotNull(app.Asked);
        Assert.Equal(3u, node.Parts.Log.AppVersion);
    }

    [Theory]
    [InlineData(2, "start a build of version 3")]
    [InlineData(4, "let this one state 3 in [assembly: AppVersion]")]
    public void Hello_OfAnotherVersionThanTheLogs_EndsTheReplicaAndIsGivenNothing(uint version, string advice)
    {
        Node first = NewNode();
        _ = new SpokenApp(first, version: 3);
        first.Kill();
        Node node = NewNode();
        Lsn end = node.Parts.Log.Tail;
        var refused = Assert.Throws<AppVersionException>(() => new SpokenApp(node, version: version));
        Assert.Equal(ExitCodes.OtherAppVersion, ExitCodes.Of(refused));
        Assert.Contains(advice, refused.Message);
        Assert.Equal(end, node.Parts.Log.Tail);
        var right = new SpokenApp(node, version: 3); // its place is free
        Assert.NotNull(right.Asked);
    }

    /// <summary>Versions only go up; one that is in force already is no misuse, since a coordinator may keep its options.</summary>
    [Fact]
    public void Hello_UnderAnUpgradeToALowerVersion_IsRefused()
    {
        Node first = NewNode();
        new SpokenApp(first, version: 3).BecomePrimary();
        Mark(first);
        first.Kill();
        var lower = new Node(_disk, _time, OpenedLog.Small, upgrade: new UpgradeOptions(2));
        Assert.StartsWith(
            "--upgrade-to 2, and the log is of version 3 already: versions only go up.",
            Assert.Throws<UpgradeRefusedException>(() => new SpokenApp(lower, version: 3)).Message, StringComparison.Ordinal);
        lower.Kill();
        var same = new Node(_disk, _time, OpenedLog.Small, upgrade: new UpgradeOptions(3));
        new SpokenApp(same, version: 3).BecomePrimary();
    }

    [Fact]
    public void Hello_OfVersion0_IsRefused()
    {
        var refused = Assert.Throws<AppSessions.AppLeftException>(() => new SpokenApp(NewNode(), version: 0));
        Assert.Equal(GoodbyeCode.Refused, refused.Goodbye.Code);
    }

    /// <summary>Its app came before the log began, so nobody knew yet what it must be.</summary>
    [Fact]
    public void Secondary_AppOfAnotherVersionBeforeTheFirstRecord_EndsThere()
    {
        Node primary = NewNode();
        var secondary = new Node(_disk, _time, OpenedLog.Small, "r1");
        var waiting = new SpokenApp(secondary, version: 2);
        _ = new SpokenApp(primary, version: 3);
        Mark(primary);
        secondary.Follow(4);
        Assert.Throws<AppVersionException>(waiting.Listen);
        Assert.Empty(waiting.Records);
    }

    [Fact]
    public void Secondary_PromotedBeforeTheFirstRecord_BeginsTheLogWithItsAppsVersion()
    {
        Node first = NewNode();
        var secondary = new Node(_disk, _time, OpenedLog.Small, "r1");
        var app = new SpokenApp(secondary, version: 5);
        first.Kill();
        secondary.BecomePrimary();
        secondary.Commit();
        app.Listen();
        Assert.Equal([RecordKind.FirstStart, RecordKind.Policy, RecordKind.Build], app.Records.Select(static r => r.Kind));
        Assert.Equal(5u, secondary.Parts.Log.AppVersion);
        Assert.NotNull(app.Asked);
    }

    /// <summary>Nothing writes such a record yet; a replica that meets one must not give it to an app of the version before.</summary>
    [Fact]
    public void Secondary_UpgradeInTheLog_EndsTheAppOfTheVersionBefore()
    {
        Node primary = NewNode();
        new SpokenApp(primary).BecomePrimary();
        Mark(primary);
        var secondary = new Node(_disk, _time, OpenedLog.Small, "r1");
        var app = new SpokenApp(secondary);
        Assert.NotEmpty(app.Records);
        Lsn at = primary.Parts.Log.Tail;
        byte[] upgrade = RecordKinds.Encode(new UpgradeRecord(1, 2, at, primary.Parts.Log.Epoch, "r0", 1, 2, null));
        Assert.True(primary.Parts.Log.TryAppendVersion(at, RecordKind.Upgrade, upgrade, 2));
        primary.Commit();
        Mark(primary);
        secondary.Follow(4);
        Assert.Throws<AppVersionException>(app.Listen);
        Assert.DoesNotContain(app.Records, static r => r.Kind == RecordKind.Upgrade);

        app.End();
        Assert.Throws<AppVersionException>(() => new SpokenApp(secondary)); // and at its hello, once it is known
        primary.Kill();
        Node next = NewNode();
        Assert.Throws<AppVersionException>(() => new SpokenApp(next));
        Assert.Equal(2u, next.Parts.Log.AppVersion);
        LogChain chain = LogChain.Load(_disk.ForProcess("look"), Node.Directory, primary.Identity);
        Assert.Equal([0u, 1u, 2u], chain.Segments.Select(segment => chain.VersionAt(_disk.ForProcess("look"), segment.FirstLsn)));
    }

    private Node NewNode() => new(_disk, _time, OpenedLog.Small);

    /// <summary>States as durable what is there, for those who follow.</summary>
    private static void Mark(Node node)
    {
        node.Parts.Log.AppendMark();
        node.Commit();
    }
}
