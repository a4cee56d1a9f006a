namespace Ambrosia.Tools.Tests;

/// <summary>C++ headers are made of manifests: byte for byte what stands in the repository, and nothing of what C++ cannot say.</summary>
public sealed class GenerateCppTests : IDisposable
{
    private const string Vectors = "protocol/vectors/Vectors.contract.json", Golden = "bindings/cpp/tests/Vectors.contract.h";

    private readonly TemporaryDirectory _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>Whoever changes the generator writes the header anew, with the command that the failure names, and looks at the
    /// difference.</summary>
    [Fact]
    public void Header_OfTheVectors_IsTheOneInTheRepository()
    {
        ToolRun run = ToolRun.Of("generate", "cpp", InRepository(Vectors), "--output", Path.GetDirectoryName(InRepository(Golden))!, "--check");
        Assert.True(run.Code == 0, $"stale: run 'ambrosia generate cpp {Vectors} --output {Path.GetDirectoryName(Golden)}'\n{run.Output}{run.Error}");
    }

    /// <summary>Headers beside the bindings' manifests were made by this generator, or by hand before it; a comment may say so.</summary>
    [Fact]
    public void Headers_OfTheBindings_AreCurrent()
    {
        string[] headers = [.. Directory.EnumerateFiles(InRepository("bindings"), "*.contract.h", SearchOption.AllDirectories)];
        foreach (string header in headers)
        {
            string name = Path.GetFileName(header)[..^".contract.h".Length];
            string? manifest = new[] { Path.GetDirectoryName(header)!, InRepository("protocol/conformance"), InRepository("protocol/vectors") }
                .Select(folder => Path.Combine(folder, $"{name}.contract.json")).FirstOrDefault(File.Exists);
            if (manifest is null) continue;
            Assert.Equal(0, ToolRun.Of("generate", "cpp", manifest, "--output", _folder.Path).Code);
            Assert.Equal(WithoutComments(File.ReadAllText(_folder.Of($"{name}.contract.h"))), WithoutComments(File.ReadAllText(header)));
        }
    }

    [Fact]
    public void Generate_Twice_WritesOnce_AndCheckFindsWhatIsStale()
    {
        string manifest = Manifest("""{"name":"Say","id":1,"parameters":[{"name":"class","type":"text"}]}""", "", "");
        ToolRun missing = ToolRun.Of("generate", "cpp", manifest, "--check");
        Assert.Equal(1, missing.Code);
        Assert.False(File.Exists(_folder.Of("shop.contract.h")));
        Assert.Contains("written", ToolRun.Of("generate", "cpp", manifest).Output, StringComparison.Ordinal);
        Assert.Contains("current", ToolRun.Of("generate", "cpp", manifest).Output, StringComparison.Ordinal);
        Assert.Equal(0, ToolRun.Of("generate", "cpp", manifest, "--check").Code);
        File.AppendAllText(_folder.Of("shop.contract.h"), "// changed\n");
        Assert.Equal(1, ToolRun.Of("generate", "cpp", manifest, "--check").Code);
    }

    [Fact]
    public void Header_OfNamesThatCppHas_SpellsThemOtherwise_AndSendsThemAsTheyAre()
    {
        string text = Header("""{"name":"delete","id":1,"parameters":[{"name":"class","type":"text"}]}""",
            """{"name":"Shop.union","fields":[{"name":"int","type":"int32"},{"name":"größe","type":"int8"}]}""",
            """{"name":"Shop.Big","type":"uint64","members":[{"name":"namespace","value":18446744073709551615}]}""");
        Assert.Contains("void delete_Fork(const std::string& class_) const { tell(id::delete_, class_); }", text, StringComparison.Ordinal);
        Assert.Contains("\"int\", &union_::int_", text, StringComparison.Ordinal);
        Assert.Contains("\"größe\", &union_::gr__e", text, StringComparison.Ordinal);
        Assert.Contains("namespace_ = 18446744073709551615u,", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Header_OfDataInData_HasTheInnerFirst_AndBoxesWhatLeadsBack()
    {
        string text = Header("""{"name":"Say","id":1,"parameters":[{"name":"a","type":"data<Shop.A>"}]}""",
            """{"name":"Shop.A","fields":[{"name":"B","type":"data<Shop.B>"}]},{"name":"Shop.B","fields":[{"name":"C","type":"data<Other.C>"},{"name":"Next","type":"data<Shop.B>?"}]},{"name":"Other.C","fields":[{"name":"N","type":"int32"}]}""",
            "");
        int a = text.IndexOf("struct A {", StringComparison.Ordinal), b = text.IndexOf("struct B {", StringComparison.Ordinal),
            c = text.IndexOf("struct C {", StringComparison.Ordinal);
        Assert.True(c < b && b < a, text);
        Assert.Contains("ambrosia::boxed<Shop::B> Next;", text, StringComparison.Ordinal);
        Assert.Contains("  Other::C C;", text, StringComparison.Ordinal);
    }

    /// <summary>Each use of a generic type is a struct of its own, which is called by its type arguments.</summary>
    [Fact]
    public void Header_OfUsesOfAGenericType_HasAStructOfEach()
    {
        string text = Header("""{"name":"Find","id":1,"parameters":[{"name":"a","type":"data<Shop.Page<int32>>?"}],"result":"data<Shop.Page<data<Shop.Page<data<Shop.Order>>>>>"}""",
            """{"name":"Shop.Order","fields":[{"name":"Pages","type":"list<data<Shop.Page<data<Shop.Order>>>>"}]},{"name":"Shop.Page<data<Shop.Order>>","fields":[{"name":"Items","type":"list<data<Shop.Order>>"}]},{"name":"Shop.Page<data<Shop.Page<data<Shop.Order>>>>","fields":[{"name":"Items","type":"list<data<Shop.Page<data<Shop.Order>>>>"}]},{"name":"Shop.Page<int32>","fields":[{"name":"Items","type":"list<int32>"}]},{"name":"Shop.Pair<map<text?,enum<Other.Tint,uint8>>,data<Far.Away.Point>?>","fields":[]}""",
            "");
        Assert.Contains("struct Page_Order {\n  std::vector<Shop::Order> Items;", text, StringComparison.Ordinal);
        Assert.Contains("struct Page_Page_Order {\n  std::vector<Shop::Page_Order> Items;", text, StringComparison.Ordinal);
        Assert.Contains("Find(const std::optional<Shop::Page_int32>& a)", text, StringComparison.Ordinal);
        Assert.Contains("ambrosia::pending<Shop::Page_Page_Order>", text, StringComparison.Ordinal);
        Assert.Contains("struct Pair_map_optional_text_Other_Tint_optional_Far_Away_Point {", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Generate_OfNamesThatAreOneInCpp_IsRefused()
    {
        ToolRun run = ToolRun.Of("generate", "cpp", Manifest("""{"name":"Say","id":1,"parameters":[]}""",
            """{"name":"Shop.Page<int32>","fields":[]},{"name":"Shop.Page_int32","fields":[]}""", ""));
        Assert.Equal(2, run.Code);
        Assert.Contains("Shop.Page<int32> and Shop.Page_int32 would both be Shop::Page_int32 in C++", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Generate_OfANameWithoutMeasure_EndsWithoutIt()
    {
        string deep = string.Concat(Enumerable.Repeat("Page<data<", 5_000)) + "A" + new string('>', 10_000);
        Assert.Equal(0, ToolRun.Of("generate", "cpp", Manifest("""{"name":"Say","id":1,"parameters":[]}""",
            $$"""{"name":"{{deep}}","fields":[]}""", "")).Code);
    }

    [Fact]
    public void Generate_OfDataWithoutEnd_IsRefusedAndWritesNothing()
    {
        string manifest = Manifest("""{"name":"Say","id":1,"parameters":[]}""",
            """{"name":"Shop.A","fields":[{"name":"B","type":"data<Shop.B>"}]},{"name":"Shop.B","fields":[{"name":"A","type":"tuple<data<Shop.A>,int8>"}]}""",
            "");
        ToolRun run = ToolRun.Of("generate", "cpp", manifest);
        Assert.Equal(2, run.Code);
        Assert.Contains("holds itself by value", run.Error, StringComparison.Ordinal);
        Assert.False(File.Exists(_folder.Of("shop.contract.h")));
    }

    [Theory]
    [InlineData("{}", "format")]
    [InlineData("no json", "no JSON")]
    [InlineData("""{"format":1,"assembly":"A","contracts":[{}],"data":[],"enums":[],"unions":[]}""", "no valid manifest")]
    public void Generate_OfWhatIsNoManifest_IsRefused(string text, string said)
    {
        File.WriteAllText(_folder.Of("bad.contract.json"), text);
        ToolRun run = ToolRun.Of("generate", "cpp", _folder.Of("bad.contract.json"));
        Assert.Equal(2, run.Code);
        Assert.Contains(said, run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Generate_IntoWhatIsNoDirectory_IsRefused() =>
        Assert.Equal(2, ToolRun.Of("generate", "cpp", InRepository(Vectors), "--output", _folder.Of("none")).Code);

    private string Header(string method, string data, string enums)
    {
        Assert.Equal(0, ToolRun.Of("generate", "cpp", Manifest(method, data, enums)).Code);
        return File.ReadAllText(_folder.Of("shop.contract.h"));
    }

    private string Manifest(string method, string data, string enums)
    {
        string file = _folder.Of("shop.contract.json");
        File.WriteAllText(file,
            $$"""{"format":1,"assembly":"Shop","contracts":[{"name":"IShop","namespace":"Shop","methods":[{{method}}]}],"data":[{{data}}],"enums":[{{enums}}],"unions":[]}""");
        return file;
    }

    private static string WithoutComments(string text) =>
        string.Join('\n', text.Split('\n').Where(static line => !line.StartsWith("//", StringComparison.Ordinal)));

    private static string InRepository(string path)
    {
        string folder = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(folder, "Ambrosia.sln"))) folder = Path.GetDirectoryName(folder)
            ?? throw new DirectoryNotFoundException("the repository");
        return Path.Combine(folder, path);
    }
}
