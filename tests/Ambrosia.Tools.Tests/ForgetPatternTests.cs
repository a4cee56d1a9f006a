using System.Text.Json.Nodes;

namespace Ambrosia.Tools.Tests;

/// <summary><c>ambrosia forget-peer</c> with a pattern: what it lists, what it asks, and what it does then.</summary>
public sealed class ForgetPatternTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly string _log;
    private readonly List<string> _forgotten = [];
    private readonly FakeCoordinator _coordinator;
    private string[] _peers = ["shop-1", "shop-2"];
    private int _more;

    public ForgetPatternTests()
    {
        _log = _temporary.Of("log");
        SampleLog.Make(_log);
        _coordinator = new FakeCoordinator(_log, "r0", Answer);
    }

    private string Answer(JsonObject request)
    {
        if ((string?)request["command"] == "status") return """{"role":"primary"}""" + "\n";
        if ((string?)request["peer"] is { } peer)
        {
            _forgotten.Add(peer);
            return """{"forgotten":"1b4e28ba-2fa1-11d2-883f-0016d3cca427","calls":3}""" + "\n";
        }
        Assert.Equal("shop-*", (string?)request["pattern"]);
        var peers = new JsonArray([.. _peers.Select(static name => new JsonObject { ["peer"] = name, ["calls"] = 3 })]);
        return new JsonObject { ["peers"] = peers, ["more"] = _more }.ToJsonString() + "\n";
    }

    private ToolRun Run(string? input, params string[] options) => ToolRun.Answered(input, ["forget-peer", _log, "shop-*", .. options]);

    [Theory]
    [InlineData("y\n", true)]
    [InlineData("YES\n", true)]
    [InlineData("\n", false)]
    [InlineData("no\n", false)]
    [InlineData("", false)]
    [InlineData(null, false)]
    public void Pattern_IsListedAndAskedFor(string? input, bool isAgreed)
    {
        ToolRun run = Run(input);
        Assert.StartsWith("shop-1, 3 calls wait\nshop-2, 3 calls wait\n", run.Output, StringComparison.Ordinal);
        Assert.Contains("Forget these 2 instances, and drop 6 calls? This cannot be undone. [y/N]", run.Error, StringComparison.Ordinal);
        Assert.Equal(isAgreed ? 0 : 1, run.Code);
        Assert.Equal(isAgreed ? _peers : [], _forgotten);
    }

    [Fact]
    public void Pattern_WithYes_IsNotAskedFor()
    {
        _more = 7;
        ToolRun run = Run(null, "--yes");
        Assert.Equal((0, 2), (run.Code, run.Lines.Length));
        Assert.Equal("7 more peers are named like 'shop-*': give the command again", run.Error.Trim());
        Assert.Equal(_peers, _forgotten);
    }

    [Fact]
    public void Pattern_OfMany_ShowsSomeAndCountsTheRest()
    {
        _peers = [.. Enumerable.Range(0, 30).Select(static n => $"shop-{n}")];
        _more = 5;
        ToolRun run = Run("n\n");
        Assert.Equal((21, "and 15 more"), (run.Lines.Length, run.Lines[^1]));
        Assert.Empty(_forgotten);
    }

    [Fact]
    public void Pattern_InJson_WantsYes()
    {
        ToolRun refused = Run("y\n", "--json");
        Assert.Equal((2, ""), (refused.Code, refused.Output));
        Assert.Contains("give --yes", refused.Error, StringComparison.Ordinal);
        Assert.Equal(["shop-1", "shop-2"],
            Run(null, "--json", "--yes").JsonLines.Select(static line => line.GetProperty("peer").GetString()!));
    }

    [Fact]
    public void Pattern_ThatNamesNobody_IsMisuse()
    {
        _peers = [];
        ToolRun run = Run("y\n");
        Assert.Equal(2, run.Code);
        Assert.Contains("is named like 'shop-*'", run.Error, StringComparison.Ordinal);
    }

    public void Dispose()
    {
        _coordinator.Dispose();
        _temporary.Dispose();
    }
}
