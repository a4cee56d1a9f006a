using System.Diagnostics;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// <c>ambrosia cut</c> as a user runs it: a message of a service's log, with a checkpoint before it, becomes a small log of its own.
/// </summary>
public sealed class CutTests(SoldOrders sold) : IClassFixture<SoldOrders>, IDisposable
{
    private const int Order = 45;

    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-cut-").FullName;

    private string Out => Path.Combine(_root, "cuts", "incident");

    [Fact]
    public void Cut_BehindACheckpoint_IsAWholeLogInWhichTheMessageIsTheSame()
    {
        JsonElement cut = Cut($"method:Order#{Order}", "--app", App).Json;
        Assert.StartsWith("ckpt.", cut.GetProperty("checkpoint").GetString(), StringComparison.Ordinal);
        Assert.Contains("ILedger.Put(", cut.GetProperty("calls")[0].GetString(), StringComparison.Ordinal);
        Tool verified = Tool.Run("verify", Out);
        Assert.True(verified.Code == 0, verified.Output);
        Assert.Contains("it is a cut", verified.Output, StringComparison.Ordinal);
        string place = cut.GetProperty("place").GetString()!;
        Assert.Equal(StateAt(sold.Shop.LogDirectory, place), StateAt(Out, place));
        Tool other = Tool.Run("replay", Out, "--app", $"env CHANGE=9 CHANGE_AT={Order} {App}", "--old", App, "--json");
        Assert.True(other.Code == 1, other.Output + other.Error);
        Assert.Equal(place, other.Json.GetProperty("differences")[0].GetProperty("place").GetString());
    }

    [Fact]
    public void Cut_FromTheBeginning_HoldsEverythingBeforeTheMessage()
    {
        JsonElement cut = Cut($"method:Order#{Order}", "--checkpoint", "start").Json;
        Assert.Equal("0", cut.GetProperty("from").GetString());
        Assert.Equal(0, Tool.Run("verify", Out).Code);
        string place = cut.GetProperty("place").GetString()!;
        Assert.Equal(StateAt(sold.Shop.LogDirectory, place), StateAt(Out, place));
    }

    [Fact]
    public void Cut_OfTheEnd_EndsWithTheLog()
    {
        Cut("end", "--app", App);
        Assert.Equal(0, Tool.Run("verify", Out).Code);
        Assert.Equal((0, "it holds"), Again());
    }

    [Fact]
    public void Replay_ByTheSameBuild_IsAlike()
    {
        Cut($"method:Order#{Order}", "--app", App);
        Assert.Equal((0, "it holds"), Again());
    }

    [Fact]
    public void Replay_ByAnotherBuild_NamesWhatDiffers()
    {
        Cut($"method:Order#{Order}", "--app", App);
        (int code, string lines) = Again([], ("CHANGE", "8"), ("CHANGE_AT", $"{Order}"));
        Assert.Equal(1, code);
        Assert.Contains("then fork", lines, StringComparison.Ordinal);
        Assert.Contains("ledger: ", lines, StringComparison.Ordinal);
    }

    [Fact]
    public void ReplayCommand_WithoutTheOldBuild_ComparesWithWhatTheCutSays()
    {
        Cut($"method:Order#{Order}", "--app", App);
        Tool alike = Tool.Run("replay", Out, "--app", App, "--json");
        Assert.True(alike.Code == 0, alike.Output + alike.Error);
        Assert.Equal(1, alike.Json.GetProperty("statesCompared").GetInt32());
        Tool other = Tool.Run("replay", Out, "--app", $"env CHANGE=10 CHANGE_AT={Order} {App}", "--json");
        Assert.True(other.Code == 1, other.Output + other.Error);
        Assert.Contains("_takings: ", other.Json.GetProperty("differences")[0].GetProperty("state")[0].GetString(), StringComparison.Ordinal);
    }

    /// <summary>The log is its owner's alone; the cut was given to another, with the app.</summary>
    [OtherUserFact]
    public void Replay_ByAnotherUserWithoutTheLog_IsAlike()
    {
        Cut($"method:Order#{Order}", "--app", App);
        string app = Path.Combine(_root, "app");
        using (Process copy = Process.Start("sh", ["-c", $"cp -r '{Path.GetDirectoryName(Executables.App)}' '{app}' && chmod -R a+rX '{_root}'"]))
        {
            copy.WaitForExit();
            Assert.Equal(0, copy.ExitCode);
        }
        string nobody = $"{OtherUserFactAttribute.Nobody}";
        Assert.Equal((0, "it holds"), Run("setpriv",
            ["--reuid", nobody, "--regid", nobody, "--clear-groups", Path.Combine(app, Path.GetFileName(Executables.App)), "again", Out]));
    }

    [Fact]
    public void Replay_WithAnExpectation_HoldsItAgainstTheState()
    {
        Cut($"method:Order#{Order}");
        Assert.Equal((0, "it holds"), Again(["_orders", $"{Order}"]));
        (int code, string lines) = Again(["_orders", "7"]);
        Assert.Equal(1, code);
        Assert.StartsWith($"_orders is {Order}, and should be 7", lines, StringComparison.Ordinal);
        Assert.Equal(2, Again([]).Code);
        Assert.Equal(2, Again(["_order", "7"]).Code);
    }

    [Fact]
    public void Replay_OfAMessageThatTheAppDiesOf_SaysHow()
    {
        Cut("method:Restock#12");
        Assert.Equal((0, "it holds"), Again(["_restocks", "12"]));
        (int code, string lines) = Again(["_restocks", "12"], ("CHANGE", $"{Shop.FullStock}"), ("CHANGE_AT", "12"));
        Assert.Equal(1, code);
        Assert.Contains("was not survived", lines, StringComparison.Ordinal);
        Assert.Contains("no room for", lines, StringComparison.Ordinal);
    }

    [Fact]
    public void Coordinator_OnACut_IsRefused()
    {
        Cut($"method:Order#{Order}");
        var shop = new Replica(Path.Combine(_root, "cuts"), "incident", sold.Shop.Role);
        shop.Start();
        Assert.Equal(2, shop.AwaitExit());
        Assert.Equal(0, Tool.Run("verify", Out).Code);
    }

    [Fact]
    public void Test_ThatIsWritten_SaysWhatMustHold()
    {
        string test = Path.Combine(_root, "Incident45.cs");
        Cut($"method:Order#{Order}", "--test", test, "--class", "Ambrosia.EndToEnd.App.Shop", "--expect", "_stock[\"a=b\"].Count=1");
        string source = File.ReadAllText(test);
        Assert.Contains("class Incident45", source, StringComparison.Ordinal);
        Assert.Contains("AmbrosiaHost.Replay<Ambrosia.EndToEnd.App.Shop>(\"cuts/incident\")", source, StringComparison.Ordinal);
        Assert.Contains("again.Must(\"_stock[\\\"a=b\\\"].Count\", \"1\");", source, StringComparison.Ordinal);
    }

    /// <summary>A masked cut is a log in which the same was done with other items: no file of it has one of then.</summary>
    [Fact]
    public void Cut_Masked_DoesTheSameWithOtherValues()
    {
        JsonElement cut = Cut($"method:Order#{Order}", "--app", App, "--mask", "item").Json;
        AssertHasNoItem(Out);
        Assert.Equal("item", cut.GetProperty("mask").GetProperty("rules")[0].GetString());
        Assert.True(cut.GetProperty("mask").GetProperty("masked").GetProperty("IShop.Order.item").GetInt64() > Order - 25);
        Assert.True(cut.GetProperty("mask").GetProperty("elsewhere").TryGetProperty("Shop._stock.keys", out _), $"{cut}");
        Tool verified = Tool.Run("verify", Out);
        Assert.True(verified.Code == 0, verified.Output);
        Assert.Contains("masked", verified.Output, StringComparison.Ordinal);
        Tool listed = Tool.Run("log", Out, "--records", "--json");
        Assert.True(listed.Code == 0, listed.Output + listed.Error);
        Assert.DoesNotContain("cannot be decoded", listed.Output, StringComparison.OrdinalIgnoreCase);
        Assert.Contains($"\"_orders\": {Order - 1}", StateAt(Out, cut.GetProperty("place").GetString()!), StringComparison.Ordinal);
        Assert.Equal((0, "it holds"), Again());
    }

    [Fact]
    public void Replay_OfAMaskedCut_NamesWhatAnotherBuildDoes()
    {
        Cut($"method:Order#{Order}", "--app", App, "--mask", "item,IShop.Order.count");
        (int code, string lines) = Again([], ("CHANGE", "8"), ("CHANGE_AT", $"{Order}"));
        Assert.Equal(1, code);
        Assert.Contains("then fork", lines, StringComparison.Ordinal);
        Tool alike = Tool.Run("replay", Out, "--app", App, "--json");
        Assert.True(alike.Code == 0, alike.Output + alike.Error);
        Assert.Equal(1, alike.Json.GetProperty("statesCompared").GetInt32());
        Tool other = Tool.Run("replay", Out, "--app", $"env CHANGE=10 CHANGE_AT={Order} {App}", "--json");
        Assert.True(other.Code == 1, other.Output + other.Error);
    }

    /// <summary>What must hold is masked like the cut: the test names what stands there now.</summary>
    [Fact]
    public void Test_OfAMaskedCut_HoldsWithTheMaskedValues()
    {
        string first = FirstItemBefore(Order), test = Path.Combine(_root, "Incident45.cs");
        Cut($"method:Order#{Order + 1}", "--mask", "item", "--test", test, "--class", "Ambrosia.EndToEnd.App.Shop",
            "--expect", $"_first=\"{first}\"", "--expect", $"_stock[\"{first}\"].Hint=null");
        string source = File.ReadAllText(test);
        AssertHasNoItem(_root);
        Assert.Contains("masked", source, StringComparison.Ordinal);
        static string Plain(Group literal) => JsonSerializer.Deserialize<string>(literal.Value)!;
        foreach (Match must in Regex.Matches(source, @"again\.Must\((?<path>""(?:[^""\\]|\\.)*""), (?<value>""(?:[^""\\]|\\.)*"")\);"))
            Assert.Equal((0, "it holds"), Again([Plain(must.Groups["path"]), Plain(must.Groups["value"])]));
        Assert.Equal(2, Regex.Count(source, @"again\.Must"));
    }

    [Theory]
    [InlineData("--around", "method:Nothing", "Nothing")]
    [InlineData("--mask", "itme", "IShop.Order.item")]
    [InlineData("--mask", " , ", "names nothing")]
    [InlineData("--mask", "@/nowhere/rules", "cannot be read")]
    [InlineData("--checkpoint", "ckpt.1.1.r9", "the nearest is")]
    [InlineData("--test", "Incident.cs", "--class")]
    [InlineData("--expect", "a=1", "--test")]
    [InlineData("--app", "/nowhere/app", "cannot execute the cut")]
    public void Misuse_IsNamed_AndNothingIsMade(string option, string value, string named)
    {
        string[] around = option == "--around" ? [] : ["--around", $"method:Order#{Order}"];
        Tool tool = Tool.Run(["cut", sold.Shop.LogDirectory, "--out", Out, .. around, option, value]);
        Assert.Equal(2, tool.Code);
        Assert.Contains(named, tool.Error, StringComparison.Ordinal);
        Assert.Empty(Directory.EnumerateFileSystemEntries(_root, "*incident*", SearchOption.AllDirectories));
    }

    public void Dispose() => Directory.Delete(_root, recursive: true);

    private string App => $"{Executables.App} {sold.Shop.Role}";

    private Tool Cut(string around, params string[] options)
    {
        Tool tool = Tool.Run(["cut", sold.Shop.LogDirectory, "--around", around, "--out", Out, "--json", .. options]);
        Assert.True(tool.Code == 0, $"{tool.Code}: {tool.Output}{tool.Error}");
        return tool;
    }

    /// <summary>Three bytes stand in a file by chance, so the shortest item is not looked for.</summary>
    private static void AssertHasNoItem(string directory)
    {
        foreach (string file in Directory.EnumerateFiles(directory, "*", SearchOption.AllDirectories))
            foreach (string item in (string[])["bolt", "chain", "drill"])
                Assert.True(File.ReadAllBytes(file).AsSpan().IndexOf(Encoding.UTF8.GetBytes(item)) < 0, $"{file} has {item}");
    }

    /// <summary>The item of the shop's first order.</summary>
    private string FirstItemBefore(int order)
    {
        using JsonDocument state = JsonDocument.Parse(Tool.Run(
            "state", sold.Shop.LogDirectory, "--at", $"method:Order#{order}", "--app", App, "--path", "_first", "--json").Output);
        return state.RootElement.GetProperty("value").GetString()!;
    }

    private string StateAt(string log, string place)
    {
        Tool tool = Tool.Run("state", log, "--at", place, "--app", App);
        Assert.True(tool.Code == 0, tool.Error);
        return tool.Output;
    }

    /// <summary>Executes the cut as a test of the user's would, in a process of its own.</summary>
    private (int Code, string Lines) Again(string[]? must = null, params (string Name, string Value)[] settings) =>
        Run(Executables.App, ["again", Out, .. must ?? []], settings);

    private static (int Code, string Lines) Run(string program, string[] arguments, params (string Name, string Value)[] settings)
    {
        var start = new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true };
        foreach ((string name, string value) in settings) start.Environment[name] = value;
        using Process app = Process.Start(start)!;
        string[] lines = app.StandardOutput.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        app.WaitForExit();
        return (app.ExitCode, string.Join('\n', lines.Where(static line => !line.StartsWith("app ", StringComparison.Ordinal))));
    }
}
