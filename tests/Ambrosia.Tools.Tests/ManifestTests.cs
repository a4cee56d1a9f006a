using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Records;

namespace Ambrosia.Tools.Tests;

public sealed class ManifestTests
{
    [Theory]
    [InlineData("int64", "int64", false)]
    [InlineData("text?", "text", true)]
    [InlineData("list<list<int32?>>?", "list", true)]
    [InlineData("map<text,tuple<int32,data<A.B>?>>", "map", false)]
    [InlineData("enum<Some.Colour,uint8>", "enum", false)]
    [InlineData("data<A.Pair<text?,list<data<A.Page<int32>>>>>?", "data", true)]
    public void Type_OfAManifest_IsRead(string text, string name, bool nullable)
    {
        SchemaType type = SchemaType.Parse(text)!;
        Assert.Equal((name, nullable, text), (type.Name, type.IsNullable, type.Text));
    }

    [Fact]
    public void Type_Inner_IsReadToTheBottom()
    {
        SchemaType type = SchemaType.Parse("map<text,tuple<int32,data<A.B>?,enum<C.D,int8>>>")!;
        Assert.Equal(["int32", "data", "enum"], type.Inner[1].Inner.Select(static inner => inner.Name));
        Assert.Equal(["", "A.B", "C.D"], type.Inner[1].Inner.Select(static inner => inner.TypeName));
    }

    /// <summary>The commas within the name of a use of a generic type are its own (C2.4).</summary>
    [Fact]
    public void Type_WithTypesInItsName_IsReadWhole()
    {
        SchemaType type = SchemaType.Parse("map<data<A.Pair<text,int32>>,union<A.Of<map<int8,data<B>>>>>")!;
        Assert.Equal(["A.Pair<text,int32>", "A.Of<map<int8,data<B>>>"], type.Inner.Select(static inner => inner.TypeName));
    }

    [Theory]
    [InlineData("")]
    [InlineData("data<A.Page<int32>")]
    [InlineData("list<")]
    [InlineData("list<int32")]
    [InlineData("list<int32>>")]
    [InlineData("list<>")]
    [InlineData("int32??")]
    [InlineData("tuple<int32,>")]
    public void Type_Malformed_IsNone(string text) => Assert.Null(SchemaType.Parse(text));

    [Fact]
    public void Type_NestedBeyondMeasure_IsNone() => Assert.Null(SchemaType.Parse(string.Concat(Enumerable.Repeat("list<", 10_000))));

    [Theory]
    [InlineData("{}")]
    [InlineData("[]")]
    [InlineData("no json")]
    [InlineData("{\"format\":2,\"contracts\":[],\"data\":[]}")]
    [InlineData("{\"format\":1,\"contracts\":[{\"name\":\"A\",\"methods\":[{\"name\":\"B\",\"id\":1,\"parameters\":[{\"name\":\"c\",\"type\":\"list<\"}]}]}],\"data\":[]}")]
    public void File_ThatIsNoManifest_IsMisuse(string content)
    {
        using var temporary = new TemporaryDirectory();
        File.WriteAllText(temporary.Of("x.contract.json"), content);
        MisuseException misuse = Assert.Throws<MisuseException>(() => ContractManifests.Load([temporary.Path]));
        Assert.Contains("x.contract.json", misuse.What);
    }

    [Fact]
    public void Directory_WithoutManifests_IsMisuse()
    {
        using var temporary = new TemporaryDirectory();
        Assert.Throws<MisuseException>(() => ContractManifests.Load([temporary.Path]));
    }

    [Fact]
    public void Methods_OfTwoContractsWithOneId_AreBothNamed()
    {
        using var temporary = new TemporaryDirectory();
        File.WriteAllText(temporary.Of("a.contract.json"), Manifest.Json);
        File.WriteAllText(temporary.Of("b.contract.json"), Manifest.Json.Replace("IShop", "IBank"));
        var text = new MessageFormatter(ContractManifests.Load([temporary.Path]), int.MaxValue);
        Assert.Equal("IShop.Two|IBank.Two", text.MethodOf(Manifest.Two).Name);
        Assert.Equal(["1", "\"a\""], text.Arguments(Manifest.Two, [0x01, 0x61, 0x61]).Select(static argument => argument.ToString()));
    }

    [Fact]
    public void Arguments_ThatDoNotFitTheirType_AreShownAllTheSame()
    {
        using var temporary = new TemporaryDirectory();
        var text = new MessageFormatter(ContractManifests.Load([Manifest.Write(temporary)]), int.MaxValue);
        Assert.Equal(["first: \"a\"", "second: 1", "[2]"],
            text.Arguments(Manifest.Two, [0x61, 0x61, 0x01, 0x81, 0x02]).Select(static argument => argument.ToString()));
        Assert.Equal(["first: 1"], text.Arguments(Manifest.Two, [0x01]).Select(static argument => argument.ToString()));
        Assert.Equal("h'01'", text.Value(Manifest.Two, [0x01])); // a raw result
        Assert.Equal("{Count: 3}", text.Value(Manifest.Answer, [0xA1, 0x01, 0x03]));
    }

    [Theory]
    [InlineData("unions", "Order{Count: 3}", (byte)4)]
    [InlineData("unions", "IPayment#7 {1: 3}", (byte)7)]
    [InlineData("others", "IPayment#4 {1: 3}", (byte)4)]
    public void Union_OfAManifest_IsShownByItsCase(string member, string shown, byte number)
    {
        using var temporary = new TemporaryDirectory();
        string file = temporary.Of("a.contract.json");
        File.WriteAllText(file, Manifest.Json.Replace("\"unions\"", $"\"{member}\""));
        var values = new ValueFormatter(ContractManifests.Load([file]), int.MaxValue);
        var reader = new Ambrosia.Protocol.CborReader([0x82, number, 0xA1, 0x01, 0x03]);
        Assert.Equal(shown, values.Next(ref reader, SchemaType.Parse("union<Shop.IPayment>?")));
    }

    [Theory]
    [InlineData("enums", "Colour.Red", (byte)1)]
    [InlineData("enums", "Colour(7)", (byte)7)]
    [InlineData("others", "Colour(1)", (byte)1)] // a manifest from before it had enums
    public void Enum_OfAManifest_IsShownByItsMember(string member, string shown, byte number)
    {
        using var temporary = new TemporaryDirectory();
        string file = temporary.Of("a.contract.json");
        File.WriteAllText(file, Manifest.Json.Replace("\"enums\"", $"\"{member}\""));
        var values = new ValueFormatter(ContractManifests.Load([file]), int.MaxValue);
        var reader = new Ambrosia.Protocol.CborReader([number]);
        Assert.Equal(shown, values.Next(ref reader, SchemaType.Parse("enum<Shop.Colour,int32>")));
    }
}
