using System.Text.Json;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Tools.Tests;

/// <summary>One manifest is checked alone, as whoever has written one by hand does it. Each wrong one is wrong in one place.</summary>
public sealed class ManifestCheckTests : IDisposable
{
    private static readonly string s_manifest = $$"""
        {"format":1,"assembly":"Shop","contracts":[{"name":"IShop","namespace":"Shop","methods":[
          {"name":"Buy","id":7,"parameters":[{"name":"order","type":"data<Shop.Order>"},{"name":"tint","type":"enum<Shop.Tint,uint8>?","optional":true,"default":"02"}],"result":"int64"},
          {"name":"Push","id":8,"raw":true,"parameters":[{"name":"content","type":"bytes"}]},
          {"name":"Book","id":{{MethodIds.Of("IShop", "Book")}},"parameters":[{"name":"all","type":"map<text,list<int8>>","optional":true,"default":"8182616181187f"},
            {"name":"by","type":"union<Shop.IPaid>?","optional":true,"default":"8201a2010363466f6f80"}]}]}],
         "data":[{"name":"Shop.Order","fields":[{"name":"Count","number":1,"type":"int32"},{"name":"Name","type":"text"}]}],
         "enums":[{"name":"Shop.Tint","type":"uint8","members":[{"name":"Red","value":1},{"name":"Blue","value":2}]}],
         "unions":[{"name":"Shop.IPaid","cases":[{"number":1,"type":"data<Shop.Order>"}]}]}
        """;

    private readonly TemporaryDirectory _folder = new();

    public void Dispose() => _folder.Dispose();

    private ToolRun Check(string json)
    {
        File.WriteAllText(_folder.Of("hand.contract.json"), json);
        return ToolRun.Of("contract", "check", _folder.Of("hand.contract.json"), "--json");
    }

    [Fact]
    public void Manifest_ByTheDocument_IsValid()
    {
        ToolRun run = Check(s_manifest);
        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.True(run.Json.GetProperty("valid").GetBoolean());
    }

    [Theory]
    [InlineData("\"namespace\":\"Shop\",", "", "contracts[0].namespace", "missing")]
    [InlineData("\"id\":7", "\"id\":\"7\"", "contracts[0].methods[0].id", "\"7\"")]
    [InlineData("\"raw\":true", "\"raw\":false", "contracts[0].methods[1].raw", "false")]
    [InlineData("\"enums\":[", "\"others\":[", "manifest.enums", "no such list")]
    [InlineData("\"type\":\"int32\"", "\"type\":\"list<\"", "data[0].fields[0].type", "list<")]
    [InlineData("\"type\":\"int32\"", "\"type\":\"number\"", "Shop.Order.Count", "no type 'number'")]
    [InlineData("\"type\":\"int32\"", "\"type\":\"map<text>\"", "Shop.Order.Count", "types within")]
    [InlineData("\"type\":\"int32\"", "\"type\":\"data<Shop.None>\"", "Shop.Order.Count", "no data type 'Shop.None'")]
    [InlineData("enum<Shop.Tint,uint8>?", "enum<Shop.Tint,int8>?", "Shop.IShop.Buy parameter 'tint'", "the enum is of uint8")]
    [InlineData("\"id\":7", "\"id\":0", "Shop.IShop.Buy", "0 is no id")]
    [InlineData("\"id\":7", "\"id\":2147483392", "Shop.IShop.Buy", "reserved")]
    [InlineData("\"id\":7", "\"id\":2147483648", "Shop.IShop.Buy", "does not follow")]
    [InlineData("\"id\":7", "\"id\":8", "Shop.IShop", "the id 8 stands there 2 times")]
    [InlineData("\"name\":\"Push\"", "\"name\":\"Buy\"", "Shop.IShop", "the name Buy")]
    [InlineData("\"name\":\"Name\"", "\"name\":\"Count\"", "Shop.Order", "the name Count")]
    [InlineData("\"name\":\"Name\"", "\"name\":\"Name\",\"number\":1", "Shop.Order", "the number 1")]
    [InlineData("\"name\":\"Blue\"", "\"name\":\"Red\"", "Shop.Tint", "the name Red")]
    [InlineData("\"value\":2", "\"value\":256", "Shop.Tint.Blue", "256 is no uint8")]
    [InlineData("\"type\":\"uint8\"", "\"type\":\"float32\"", "Shop.Tint", "float32")]
    [InlineData("\"cases\":[", "\"cases\":[{\"number\":1,\"type\":\"data<Shop.Order>\"},", "Shop.IPaid", "the number 1")]
    [InlineData("\"cases\":[", "\"cases\":[{\"number\":2,\"type\":\"text\"},", "Shop.IPaid case 2", "not of text")]
    [InlineData("\"cases\":[", "\"cases\":[{\"number\":2147483648,\"type\":\"data<Shop.Order>\"},", "Shop.IPaid case 2147483648", "beyond")]
    [InlineData("\"name\":\"content\",\"type\":\"bytes\"", "\"name\":\"content\",\"type\":\"text\"", "Shop.IShop.Push", "raw")]
    [InlineData("\"result\":\"int64\"", "\"result\":\"int64\",\"rawResult\":true", "Shop.IShop.Buy", "rawResult")]
    [InlineData("\"default\":\"02\"", "\"default\":\"0\"", "Shop.IShop.Buy parameter 'tint'", "hexadecimal")]
    [InlineData("\"default\":\"02\"", "\"default\":\"20\"", "Shop.IShop.Buy parameter 'tint'", "is no enum<Shop.Tint,uint8>?")]
    [InlineData("\"default\":\"02\"", "\"default\":\"0202\"", "Shop.IShop.Buy parameter 'tint'", "goes on")]
    [InlineData("\"optional\":true,\"default\":\"02\"", "\"default\":\"02\"", "Shop.IShop.Buy parameter 'tint'", "not 'optional'")]
    [InlineData("8182616181187f", "818261618119007f", "Shop.IShop.Book parameter 'all'", "is no map")]
    [InlineData("8182616181187f", "81826161811880", "Shop.IShop.Book parameter 'all'", "is no map")]
    [InlineData("8182616181187f", "8183616181187f00", "Shop.IShop.Book parameter 'all'", "3 items")]
    [InlineData("8201a2010363466f6f80", "8209a2010363466f6f80", "Shop.IShop.Book parameter 'by'", "no case 9")]
    [InlineData("8201a2010363466f6f80", "8201a201616163466f6f80", "Shop.IShop.Book parameter 'by'", "is no union")]
    public void Manifest_WrongInOnePlace_IsNamedThere(string from, string to, string place, string reason)
    {
        Assert.Contains(from, s_manifest);
        ToolRun run = Check(s_manifest.Replace(from, to));
        Assert.Equal((1, ""), (run.Code, run.Error));
        JsonElement[] found = [.. run.Json.GetProperty("problems").EnumerateArray()];
        Assert.Contains(found, each => each.GetProperty("place").GetString() == place
            && each.GetProperty("reason").GetString()!.Contains(reason));
        Assert.All(found, static each => Assert.NotEqual("", each.GetProperty("mend").GetString()));
    }

    [Fact]
    public void Type_OfAUnitBesideTheManifest_Exists()
    {
        string parts = s_manifest.Replace("\"type\":\"int32\"", "\"type\":\"data<Parts.Part>\"");
        Assert.Equal(1, Check(parts).Code);
        File.WriteAllText(_folder.Of("Parts.contract.json"),
            """{"format":1,"assembly":"Parts","contracts":[],"data":[{"name":"Parts.Part","fields":[]}],"enums":[],"unions":[]}""");
        Assert.Equal(1, Check(parts).Code); // the default in it is still an integer
        Assert.Equal(0, Check(parts.Replace("8201a2010363466f6f80", "8201a201a063466f6f80")).Code);
    }

    [Theory]
    [InlineData("\"name\":\"Buy\"", "\"name\":\"\\ud800\"")]
    [InlineData("{\"format\":1", "{\"format\":")]
    [InlineData("{\"format\":1", "{\"format\":3")]
    public void Manifest_ThatIsDamaged_IsMisuse(string from, string to)
    {
        ToolRun run = Check(s_manifest.Replace(from, to));
        Assert.Equal((2, ""), (run.Code, run.Output));
        Assert.Contains("hand.contract.json", run.Error);
    }

    [Fact]
    public void Manifest_OfTheVectors_IsValid()
    {
        string file = Path.Combine(AppContext.BaseDirectory, "vectors", "Vectors.contract.json");
        Assert.Equal(0, ToolRun.Of("contract", "check", file).Code);
    }
}
