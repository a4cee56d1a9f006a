using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Tools.Tests;

/// <summary>
/// Two builds' manifests are compared, each test with one change: what breaks callers or logs is named with its place and how to mend it,
/// and what adds something passes.
/// </summary>
public sealed class ContractCheckTests : IDisposable
{
    private static readonly uint s_book = MethodIds.Of("IShop", "Book");

    private static readonly string s_old = $$"""
        {"format":1,"assembly":"Shop","contracts":[{"name":"IShop","namespace":"Shop","methods":[
          {"name":"Buy","id":7,"parameters":[{"name":"what","type":"text"},{"name":"count","type":"int32"},{"name":"note","type":"text?","optional":true,"default":"f6"}],"result":"int64"},
          {"name":"Push","id":8,"raw":true,"parameters":[{"name":"content","type":"bytes"}],"result":"bytes","rawResult":true},
          {"name":"Book","id":{{s_book}},"parameters":[{"name":"order","type":"data<Shop.Order>"},{"name":"paid","type":"union<Shop.IPaid>"}]}]}],
         "data":[{"name":"Shop.Order","fields":[{"name":"Count","number":1,"type":"int32"},{"name":"Name","type":"text"},{"name":"Memo","type":"text?"},{"name":"Tint","type":"enum<Shop.Tint,uint8>"}]}],
         "enums":[{"name":"Shop.Tint","type":"uint8","members":[{"name":"Red","value":1},{"name":"Blue","value":2}]}],
         "unions":[{"name":"Shop.IPaid","cases":[{"number":1,"type":"data<Shop.Order>"}]}]}
        """;

    private readonly TemporaryDirectory _folder = new();

    public void Dispose() => _folder.Dispose();

    private string Write(string name, string json)
    {
        string path = _folder.Of(name);
        File.WriteAllText(path, json);
        return path;
    }

    /// <summary>Checks the old manifest against one in which a text stands for another.</summary>
    private ToolRun Check(string from, string to)
    {
        Assert.Contains(from, s_old);
        return ToolRun.Of("contract", "check", Write("old.json", s_old), Write("new.json", s_old.Replace(from, to)), "--json");
    }

    [Theory]
    [InlineData("\"name\":\"Buy\",\"id\":7", "\"name\":\"Buy\",\"id\":9", "Shop.IShop.Buy", "[MethodId(7)]")]
    [InlineData("\"name\":\"Buy\",\"id\":7", "\"name\":\"Get\",\"id\":9", "Shop.IShop.Buy", "[MethodId(7)]")]
    [InlineData(",{\"name\":\"note\",\"type\":\"text?\",\"optional\":true,\"default\":\"f6\"}", "", "Shop.IShop.Buy parameter 3 'note'", "restore it")]
    [InlineData("\"name\":\"count\",\"type\":\"int32\"", "\"name\":\"count\",\"type\":\"int64\"", "Shop.IShop.Buy parameter 2 'count'", "restore the type")]
    [InlineData("\"default\":\"f6\"}", "\"default\":\"f6\"},{\"name\":\"more\",\"type\":\"int32\"}", "Shop.IShop.Buy parameter 'more'", "give it a default")]
    [InlineData(",\"optional\":true,\"default\":\"f6\"", "", "Shop.IShop.Buy parameter 3 'note'", "restore the default")]
    [InlineData("\"result\":\"int64\"", "\"result\":\"int32\"", "Shop.IShop.Buy result", "restore the type")]
    [InlineData(",\"result\":\"int64\"", "", "Shop.IShop.Buy result", "restore the type")]
    [InlineData("\"id\":7,", "\"id\":7,\"impulse\":true,", "Shop.IShop.Buy", "[ImpulseHandler]")]
    [InlineData("\"id\":7,", "\"id\":7,\"query\":true,", "Shop.IShop.Buy", "[Query]")]
    [InlineData("\"raw\":true,", "", "Shop.IShop.Push", "plain bytes")]
    [InlineData(",\"rawResult\":true", "", "Shop.IShop.Push", "plain bytes")]
    [InlineData("\"number\":1,\"type\":\"int32\"", "\"number\":2,\"type\":\"int32\"", "Shop.Order.Count", "[Field(1)]")]
    [InlineData("\"number\":1,\"type\":\"int32\"", "\"number\":1,\"type\":\"text\"", "Shop.Order.Count", "restore the type")]
    [InlineData("{\"name\":\"Name\",\"type\":\"text\"},", "", "Shop.Order.Name", "restore it")]
    [InlineData("\"name\":\"Name\",\"type\":\"text\"", "\"name\":\"Title\",\"type\":\"text\"", "Shop.Order.Name", "restore its name")]
    [InlineData("\"name\":\"Memo\",\"type\":\"text?\"", "\"name\":\"Memo\",\"type\":\"text\"", "Shop.Order.Memo", "let it be null")]
    [InlineData("\"name\":\"Name\",\"type\":\"text\"", "\"name\":\"Name\",\"type\":\"text?\"", "Shop.Order.Name", "restore the type")]
    [InlineData("\"name\":\"Blue\",\"value\":2", "\"name\":\"Blue\",\"value\":3", "Shop.Tint.Blue", "the number 2")]
    [InlineData(",{\"name\":\"Blue\",\"value\":2}", "", "Shop.Tint.Blue", "the number 2")]
    [InlineData("\"name\":\"Shop.Tint\",\"type\":\"uint8\"", "\"name\":\"Shop.Tint\",\"type\":\"int32\"", "Shop.Tint", "uint8")]
    [InlineData("\"number\":1,\"type\":\"data<Shop.Order>\"", "\"number\":2,\"type\":\"data<Shop.Order>\"", "Shop.IPaid case 1", "[Case(1")]
    [InlineData("\"number\":1,\"type\":\"data<Shop.Order>\"", "\"number\":1,\"type\":\"data<Shop.Other>\"", "Shop.IPaid case 1", "number of its own")]
    [InlineData("{\"number\":1,\"type\":\"data<Shop.Order>\"}", "", "Shop.IPaid case 1", "restore it")]
    public void Change_ThatBreaksCallersOrTheLog_IsNamed(string from, string to, string place, string mend)
    {
        ToolRun run = Check(from, to);
        Assert.Equal((1, ""), (run.Code, run.Error));
        JsonElement found = Assert.Single(run.Json.GetProperty("breaks").EnumerateArray().ToArray());
        Assert.Equal(place, found.GetProperty("place").GetString());
        Assert.Contains(mend, found.GetProperty("mend").GetString());
        Assert.NotEqual("", found.GetProperty("reason").GetString());
    }

    [Fact]
    public void Parameter_RemovedBeforeOthers_BreaksAllBehindIt() => Assert.Equal(
        ["1 'what': it is gone", "2 'count': it is parameter 1 now", "3 'note': it is parameter 2 now"],
        ParametersBroken("{\"name\":\"what\",\"type\":\"text\"},", ""));

    [Fact]
    public void Parameter_PutBehindAnother_BreaksBoth() => Assert.Equal(
        ["1 'what': it is parameter 2 now", "2 'count': it is parameter 1 now"],
        ParametersBroken("{\"name\":\"what\",\"type\":\"text\"},{\"name\":\"count\",\"type\":\"int32\"}",
            "{\"name\":\"count\",\"type\":\"int32\"},{\"name\":\"what\",\"type\":\"text\"}"));

    private string[] ParametersBroken(string from, string to)
    {
        const string Place = "Shop.IShop.Buy parameter ";
        ToolRun run = Check(from, to);
        Assert.Equal(1, run.Code);
        return [.. run.Json.GetProperty("breaks").EnumerateArray().Select(static each =>
            $"{each.GetProperty("place").GetString()![Place.Length..]}: {each.GetProperty("reason").GetString()!.Split(':')[0]}")];
    }

    [Theory]
    [InlineData("\"name\":\"IShop\"", "\"name\":\"IBank\"", "IBank", "Book")]
    [InlineData("\"name\":\"Book\"", "\"name\":\"Order\"", "IShop", "Order")]
    public void Name_OfWhichAnIdIsMade_BreaksThisMethodAlone(string from, string to, string contract, string method)
    {
        string renamed = s_old.Replace(from, to).Replace($"{s_book}", $"{MethodIds.Of(contract, method)}");
        ToolRun run = ToolRun.Of("contract", "check", Write("old.json", s_old), Write("new.json", renamed), "--json");
        Assert.Equal(1, run.Code);
        JsonElement found = Assert.Single(run.Json.GetProperty("breaks").EnumerateArray().ToArray());
        Assert.Equal("Shop.IShop.Book", found.GetProperty("place").GetString());
        Assert.Contains($"{contract}.{method} now", found.GetProperty("reason").GetString());
        Assert.Contains("keep the names IShop.Book", found.GetProperty("mend").GetString());
        Assert.Contains("[MethodId(n)]", found.GetProperty("mend").GetString());
    }

    /// <summary>A change of a generic type is one of each of its uses, and a use is compared with itself alone.</summary>
    [Theory]
    [InlineData("{\"name\":\"Total\",\"type\":\"int32\"}", "{\"name\":\"Total\",\"type\":\"int64\"}", "Shop.Page<data<Shop.Order>>.Total")]
    [InlineData(",{\"name\":\"Total\",\"type\":\"int32\"}", "", "Shop.Page<data<Shop.Order>>.Total")]
    [InlineData("\"result\":\"data<Shop.Page<data<Shop.Order>>>\"", "\"result\":\"data<Shop.Page<int32>>\"", "Shop.IShop.Find result")]
    [InlineData(",{\"name\":\"Total\"", ",{\"name\":\"More\",\"type\":\"text?\"},{\"name\":\"Total\"", null)]
    public void Change_OfAGenericType_IsJudgedForEachUse(string from, string to, string? place)
    {
        const string Page = """
            {"format":1,"assembly":"Shop","contracts":[{"name":"IShop","namespace":"Shop","methods":[{"name":"Find","id":7,"parameters":[],"result":"data<Shop.Page<data<Shop.Order>>>"}]}],
            "data":[{"name":"Shop.Order","fields":[]},{"name":"Shop.Page<data<Shop.Order>>","fields":[{"name":"Items","type":"list<data<Shop.Order>>"},{"name":"Total","type":"int32"}]},{"name":"Shop.Page<int32>","fields":[{"name":"Items","type":"list<int32>"}]}],"enums":[],"unions":[]}
            """;
        Assert.Contains(from, Page, StringComparison.Ordinal);
        ToolRun run = ToolRun.Of("contract", "check", Write("old.json", Page), Write("new.json", Page.Replace(from, to)), "--json");
        Assert.Equal(place is null ? [] : [place],
            run.Json.GetProperty("breaks").EnumerateArray().Select(static each => each.GetProperty("place").GetString()));
        Assert.Equal(0, ToolRun.Of("contract", "check", Write("one.json", Page)).Code);
    }

    [Fact]
    public void Method_Gone_IsNamed()
    {
        string push = s_old[
            s_old.IndexOf("{\"name\":\"Push\"", StringComparison.Ordinal)
            ..s_old.IndexOf("{\"name\":\"Book\"", StringComparison.Ordinal)];
        JsonElement found = Assert.Single(Check(push, "").Json.GetProperty("breaks").EnumerateArray().ToArray());
        Assert.Equal("Shop.IShop.Push", found.GetProperty("place").GetString());
        Assert.Contains("the method is gone", found.GetProperty("reason").GetString());
    }

    [Fact]
    public void Contract_Gone_IsNamed()
    {
        string none = Write("none.json", """{"format":1,"assembly":"Shop","contracts":[],"data":[],"enums":[],"unions":[]}""");
        ToolRun run = ToolRun.Of("contract", "check", Write("old.json", s_old), none);
        Assert.Equal(1, run.Code);
        Assert.StartsWith("Shop.IShop: the contract is gone", run.Output);
    }

    [Theory]
    [InlineData("\"namespace\":\"Shop\"", "\"namespace\":\"Store\"", "Shop.IShop", "renamed to Store.IShop")]
    [InlineData("\"name\":\"Buy\",\"id\":7", "\"name\":\"Get\",\"id\":7", "Shop.IShop.Buy", "its id stays")]
    [InlineData("\"methods\":[", "\"methods\":[{\"name\":\"New\",\"id\":12,\"parameters\":[]},", "Shop.IShop.New", "method added")]
    [InlineData("\"default\":\"f6\"}", "\"default\":\"f6\"},{\"name\":\"more\",\"type\":\"int32\",\"optional\":true,\"default\":\"00\"}",
        "Shop.IShop.Buy parameter 'more'", "with a default")]
    [InlineData("\"name\":\"what\"", "\"name\":\"which\"", "Shop.IShop.Buy parameter 1 'what'", "renamed to 'which'")]
    [InlineData("\"default\":\"f6\"", "\"default\":\"6161\"", "Shop.IShop.Buy parameter 3 'note'", "default changed")]
    [InlineData("\"fields\":[", "\"fields\":[{\"name\":\"Size\",\"type\":\"int32?\"},", "Shop.Order.Size", "field added")]
    [InlineData("\"name\":\"Count\",\"number\":1", "\"name\":\"Pieces\",\"number\":1", "Shop.Order.Count", "its number stays")]
    [InlineData("{\"name\":\"Memo\",\"type\":\"text?\"},", "", "Shop.Order.Memo", "optional field removed")]
    [InlineData("\"members\":[", "\"members\":[{\"name\":\"Green\",\"value\":9},", "Shop.Tint.Green", "member added")]
    [InlineData("\"cases\":[", "\"cases\":[{\"number\":2,\"type\":\"data<Shop.Other>\"},", "Shop.IPaid case 2", "case added")]
    [InlineData("\"data\":[", "\"data\":[{\"name\":\"Shop.Other\",\"fields\":[]},", "Shop.Other", "data type added")]
    public void Change_ThatAddsOrRenames_PassesAndIsListed(string from, string to, string place, string what)
    {
        ToolRun run = Check(from, to);
        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Empty(run.Json.GetProperty("breaks").EnumerateArray());
        JsonElement found = Assert.Single(run.Json.GetProperty("additions").EnumerateArray().ToArray());
        Assert.Equal(place, found.GetProperty("place").GetString());
        Assert.Contains(what, found.GetProperty("what").GetString());
    }

    [Fact]
    public void Log_WithTwoManifestsOfOneAssembly_IsJudgedByTheNewest()
    {
        string log = Directory.CreateDirectory(_folder.Of("log")).FullName;
        string kept = Directory.CreateDirectory(Path.Combine(log, "contracts")).FullName;
        File.WriteAllText(Path.Combine(log, "instance"), "");
        File.WriteAllText(Path.Combine(kept, "build.00.json"), "{}"); // what a build executes is no manifest
        File.WriteAllText(Path.Combine(kept, "b.json"), s_old);
        File.WriteAllText(Path.Combine(kept, "a.json"), s_old.Replace("\"id\":7,", "\"id\":70,"));
        File.SetLastWriteTimeUtc(Path.Combine(kept, "a.json"), new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc));
        File.SetLastWriteTimeUtc(Path.Combine(kept, "b.json"), new DateTime(2026, 1, 2, 0, 0, 0, DateTimeKind.Utc));
        string build = Directory.CreateDirectory(_folder.Of("build")).FullName;
        File.WriteAllText(Path.Combine(build, "Shop.contract.json"), s_old);
        ToolRun run = ToolRun.Of("contract", "check", log, build);
        Assert.Equal((0, "The contracts are the same.\n"), (run.Code, run.Output));
    }

    [Theory]
    [InlineData("{\"format\":1,", "is damaged")]
    [InlineData("{}", "is no contract manifest")]
    [InlineData("[]", "is no contract manifest")]
    [InlineData("{\"format\":2}", "of format 2")]
    [InlineData("{\"format\":1,\"assembly\":\"A\",\"contracts\":{},\"data\":[]}", "is no contract manifest")]
    public void File_ThatIsNoManifest_IsMisuse(string content, string said)
    {
        ToolRun run = ToolRun.Of("contract", "check", Write("old.json", s_old), Write("new.json", content));
        Assert.Equal((2, ""), (run.Code, run.Output));
        Assert.Contains(said, run.Error);
        Assert.Contains("new.json", run.Error);
    }

    [Fact]
    public void Place_WithoutManifest_IsMisuse()
    {
        string empty = Directory.CreateDirectory(_folder.Of("empty")).FullName;
        Assert.Equal(2, ToolRun.Of("contract", "check", Write("old.json", s_old), empty).Code);
        Assert.Equal(2, ToolRun.Of("contract", "check", _folder.Of("none.json")).Code);
    }

    [Fact]
    public void Manifest_AgainstItself_HasNoBreaks()
    {
        for (ulong seed = 1; seed <= (ulong)TestKit.TestScale.Rounds(300); seed++)
        {
            JsonObject manifest = RandomManifest.Make(seed);
            string file = Write("a.json", manifest.ToJsonString());
            ToolRun valid = ToolRun.Of("contract", "check", file);
            Assert.True(valid.Code == 0, $"seed {seed}: {valid.Output}{valid.Error}");
            ToolRun same = ToolRun.Of("contract", "check", file, file);
            Assert.True(same is { Code: 0, Output: "The contracts are the same.\n" }, $"seed {seed}: {same.Output}{same.Error}");
        }
    }

    [Fact]
    public void Manifest_AgainstOneWithoutOneOfItsMethods_HasOneBreakAndBackwardsNone()
    {
        for (ulong seed = 1; seed <= (ulong)TestKit.TestScale.Rounds(300); seed++)
        {
            JsonObject manifest = RandomManifest.Make(seed);
            string whole = Write("a.json", manifest.ToJsonString());
            RandomManifest.RemoveMethod(manifest, seed);
            string less = Write("b.json", manifest.ToJsonString());
            ToolRun gone = ToolRun.Of("contract", "check", whole, less, "--json");
            Assert.True(gone.Code == 1 && gone.Json.GetProperty("breaks").GetArrayLength() == 1, $"seed {seed}: {gone.Output}{gone.Error}");
            ToolRun added = ToolRun.Of("contract", "check", less, whole, "--json");
            Assert.True(added.Code == 0 && added.Json.GetProperty("additions").GetArrayLength() == 1, $"seed {seed}: {added.Output}{added.Error}");
        }
    }
}
