using System.Text.Json;
using Ambrosia.EndToEnd.App;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// <c>ambrosia replay</c> as a user runs it: a log of everything that a service may do, executed by builds with one small change each, and
/// by builds that do the same in other words.
/// </summary>
public sealed class ReplayTests(SoldOrders sold) : IClassFixture<SoldOrders>
{
    public static TheoryData<int> Changes => Some(Shop.Changes);

    public static TheoryData<int> Rewritings => Some(Shop.Rewritings);

    [Theory]
    [MemberData(nameof(Changes))]
    public void Change_AgainstTheOldBuild_IsFoundAtItsMessage(int change)
    {
        // Orders that wait for nothing before the change takes effect, so that it is the message of the order that makes it.
        int at = change is 3 or 6 ? 45 : change is 4 ? 21 : 33;
        Tool tool = Replay($"env CHANGE={change} CHANGE_AT={at} {App}", "--old", App);
        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement found = tool.Json.GetProperty("differences")[0];
        Assert.True(found.GetProperty("exact").GetBoolean(), tool.Output);
        string place = PlaceOf($"method:Order#{at}");
        Assert.True(place == found.GetProperty("place").GetString(), tool.Output);
        Assert.Contains($"--until {place} -- ", found.GetProperty("debug").GetString(), StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Rewritings))]
    public void Rewriting_AgainstTheOldBuild_IsAlike(int rewriting)
    {
        Tool tool = Replay($"env REWRITE={rewriting} {App}", "--old", App);
        Assert.True(tool.Code == 0, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.True(tool.Json.GetProperty("callsCompared").GetInt64() > SoldOrders.Count, tool.Output);
        Assert.Empty(tool.Json.GetProperty("notCompared").EnumerateObject());
        JsonElement orders = Assert.Single(
            tool.Json.GetProperty("handlers").EnumerateArray(), static each => each.GetProperty("handler").GetString() == "IShop.Order");
        Assert.Equal(SoldOrders.Count, orders.GetProperty("messages").GetInt32());
        Assert.True(orders.GetProperty("nowSeconds").GetDouble() > 0 && orders.GetProperty("thenSeconds").GetDouble() > 0, tool.Output);
    }

    [Fact]
    public void Change_AgainstTheLogsOfReceivers_IsFoundAtItsMessage()
    {
        Tool tool = Replay($"env CHANGE=8 CHANGE_AT=33 {App}", "--catalog", sold.Catalog);
        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement found = tool.Json.GetProperty("differences")[0];
        Assert.Equal(PlaceOf("method:Order#33"), found.GetProperty("place").GetString());
        Assert.Contains("ledger", found.GetProperty("then").GetString(), StringComparison.Ordinal);
        Assert.Contains("ILedger.Put(", found.GetProperty("now").GetString(), StringComparison.Ordinal);
    }

    /// <summary>Behind it no call follows on that channel by which the difference would show.</summary>
    [Fact]
    public void LastCall_LeftOut_IsMissedByItsReceiver()
    {
        Tool tool = Replay($"env CHANGE=1 CHANGE_AT={SoldOrders.Count} {App}", "--catalog", sold.Catalog);
        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement found = tool.Json.GetProperty("differences")[0];
        Assert.Contains("ILedger.Put(", found.GetProperty("then").GetString(), StringComparison.Ordinal);
        Assert.Equal("nothing", found.GetProperty("now").GetString());
        Assert.Equal(PlaceOf($"method:Order#{SoldOrders.Count}"), found.GetProperty("place").GetString());
    }

    /// <summary>A call with other arguments leaves the answers where they belong, so what follows can be compared.</summary>
    [Fact]
    public void StopAt_BehindADifferenceInArguments_TellsTheNext()
    {
        Tool tool = Replay($"env CHANGE=8 CHANGE_AT=33 {App}", "--old", App, "--stop-at", "2");
        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement differences = tool.Json.GetProperty("differences");
        Assert.Equal(2, differences.GetArrayLength());
        Assert.Equal(PlaceOf("method:Order#33"), differences[0].GetProperty("place").GetString());
        Assert.NotEqual(differences[0].GetProperty("now").GetString(), differences[1].GetProperty("now").GetString());
    }

    /// <summary>The same code, and receivers whose logs nobody knows: what is compared with nothing is said.</summary>
    [Fact]
    public void Receivers_ThatAreGone_AreNotTakenForAlike()
    {
        Tool tool = Replay(App, "--until", PlaceOf("method:Order#40"));
        Assert.True(tool.Code == 3, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.True(tool.Json.GetProperty("notCompared").GetProperty("ledger").GetInt64() > 0, tool.Output);
    }

    [Theory]
    [InlineData("--from", "method:Nothing", "Nothing")]
    [InlineData("--until", "start", "not behind")]
    [InlineData("--app", "/nowhere/app", "cannot begin")]
    [InlineData("--old", "/nowhere/app", "--old")]
    [InlineData("--peer", "ledger=/nowhere", "not there")]
    [InlineData("--catalog", "/nowhere", "not there")]
    public void Misuse_IsNamed(string option, string value, string named)
    {
        string[] options = option == "--app" ? ["--app", value] : ["--app", App, option, value];
        Tool tool = Tool.Run(["replay", sold.Shop.LogDirectory, .. options]);
        Assert.Equal(2, tool.Code);
        Assert.Contains(named, tool.Error, StringComparison.Ordinal);
    }

    private string App => $"{Executables.App} {sold.Shop.Role}";

    private Tool Replay(string app, params string[] options) =>
        Tool.Run(["replay", sold.Shop.LogDirectory, "--app", app, "--json", .. options]);

    private string PlaceOf(string position)
    {
        var files = new ReadOnlyFiles(new PosixFileSystem());
        var log = new LogLocation(files, sold.Shop.LogDirectory, InstanceDirectory.TryRead(files, sold.Shop.LogDirectory)!);
        return $"{new PlaceFinder(log, TimeProvider.System).Find(position).Place}";
    }

    /// <summary>Each of them in a campaign, some of them else.</summary>
    private static TheoryData<int> Some(int count)
    {
        var numbers = new TheoryData<int>();
        int taken = TestScale.Rounds(count);
        for (int i = 0; i < taken; i++) numbers.Add(1 + i * count / taken);
        return numbers;
    }
}
