using System.Reflection;
using System.Runtime.Loader;
using System.Text.Json;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests;

/// <summary>
/// Generic types marked [Data]: each use is a data type of its own in the manifest, whichever assembly declares the generic type, and
/// travels and is kept as others are. What travels of each form, tests of the binding tell.
/// </summary>
public sealed class GenericDataTests
{
    private const string Library = """
        namespace Lib;
        [Data] public sealed partial record Page<T>(IReadOnlyList<T> Items, int Total);
        [Data] public struct Pair<A, B> where A : notnull { [Field(2)] public A First; public B? Second { get; init; } }
        [Data] public class Tree<T> where T : struct { public T Value { get; init; } public List<Tree<T>> Children { get; set; } = []; public Tree<T>? Best { get; init; } }
        [Data] public sealed class Held<T> { public Held() { Value = default!; } public Held(T value) => Value = value; public T Value { get; } }
        [Data] public record Item(string Name);
        """;

    private const string Contract = """
        [Data] public sealed record Order(int Id, Page<Order>? Parts);
        [Data] public sealed record Shelf(Pair<string, Order> Top, Dictionary<string, Page<Item>?> Rest);
        [Contract]
        public interface IShop
        {
            [MethodId(1)] Page<Order> Find(Page<int> ids, Page<string?>? names);
            [MethodId(2)] Call<Page<Page<int>>> Deep(Tree<long> tree, Pair<string, DateOnly?>? pair, Held<byte[]> held);
            [MethodId(3)] void Put(Page<List<Item>>[] all, Page<Item[]> same, Pair<string, int> zero = default);
            [MethodId(4), Query] Page<Item> Seen(Page<(int, Order?)> pages);
            [MethodId(5), ImpulseHandler] void Told(Page<Order> page);
        }
        """;

    private const string Shop = """
        public sealed partial class Shop : Immortal<IShop>, IShop
        {
            private Page<Order>? _last;
            public Page<Order> Find(Page<int> ids, Page<string?>? names) => _last ?? new([], ids.Total);
            public async Call<Page<Page<int>>> Deep(Tree<long> tree, Pair<string, DateOnly?>? pair, Held<byte[]> held) => await thisProxy.DeepAsync(tree, pair, held);
            public void Put(Page<List<Item>>[] all, Page<Item[]> same, Pair<string, int> zero) { }
            public Page<Item> Seen(Page<(int, Order?)> pages) => new([], 1);
            public void Told(Page<Order> page) => _last = page;
        }
        """;

    private static readonly MetadataReference s_client = MetadataReference.CreateFromFile(typeof(Client.ImmortalClient).Assembly.Location);

    /// <summary>The uses, as the manifest has them. Lists and arrays are one type there.</summary>
    private static readonly string[] s_uses =
    [
        "Lib.Held<bytes>", "Lib.Page<data<Lib.Item>>", "Lib.Page<data<Lib.Page<int32>>>", "Lib.Page<data<Order>>", "Lib.Page<int32>",
        "Lib.Page<list<data<Lib.Item>>>", "Lib.Page<text?>", "Lib.Page<tuple<int32,data<Order>?>>", "Lib.Pair<text,data<Order>>",
        "Lib.Pair<text,date?>", "Lib.Pair<text,int32>", "Lib.Tree<int64>", "Order", "Shelf",
    ];

    [Fact]
    public void Uses_OfOneAssembly_CompileAndStandInItsManifest()
    {
        string library = Library.Replace("namespace Lib;", "namespace Lib {", StringComparison.Ordinal) + "}";
        Generation generation = Generation.Of($"using Lib; {Contract} {Shop} {library}", s_client);
        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
        Assert.Equal(s_uses.Append("Lib.Item").Order(StringComparer.Ordinal), NamesIn(generation));
    }

    [Fact]
    public void Uses_OfALibrarysType_CompileAndStandInTheManifestOfTheApp()
    {
        Generation library = Generation.OfAssembly("Lib", Library), app = OfApp(library);
        Assert.Empty(library.Diagnostics);
        Assert.Equal(["Lib.Item"], NamesIn(library));
        Assert.Empty(app.Diagnostics);
        Assert.Empty(app.Errors());
        Assert.Equal(s_uses, NamesIn(app));
    }

    /// <summary>A third assembly serves and calls the contract of another one, with the generic type of a library of both.</summary>
    [Fact]
    public void Uses_InAContractOfAnotherAssembly_AreServedAndCalled()
    {
        Generation library = Generation.OfAssembly("Lib", Library);
        Generation contracts = Generation.OfAssembly("Contracts", "using Lib;" + Contract, library.AsReference());
        Generation app = Generation.OfAssembly("App",
            $"using Lib; {Shop} public static class Caller {{ public static Task<Page<Order>> Ask(Ambrosia.Client.ClientProxy<IShop> shop) => shop.FindAsync(new([1], 1), null); }}",
            library.AsReference(), contracts.AsReference(), s_client);
        Assert.Empty(app.Diagnostics);
        Assert.Empty(app.Errors());
        Assert.Equal(s_uses, NamesIn(contracts));
    }

    [Fact]
    public void Use_StandsInTheManifestWithTheTypesOfItsMembers()
    {
        using JsonDocument json = JsonDocument.Parse(ManifestOf(OfApp(Generation.OfAssembly("Lib", Library))));
        Dictionary<string, string> data = json.RootElement.GetProperty("data").EnumerateArray()
            .ToDictionary(static each => each.GetProperty("name").GetString()!, static each => each.GetProperty("fields").GetRawText());
        Assert.Equal("""[{"name":"Items","type":"list<data<Order>>"},{"name":"Total","type":"int32"}]""", data["Lib.Page<data<Order>>"]);
        Assert.Equal("""[{"name":"First","number":2,"type":"text"},{"name":"Second","type":"date?"}]""", data["Lib.Pair<text,date?>"]);
        Assert.Equal(
            """[{"name":"Best","type":"data<Lib.Tree<int64>>?"},{"name":"Value","type":"int64"},{"name":"Children","type":"list<data<Lib.Tree<int64>>>"}]""",
            data["Lib.Tree<int64>"]);
        // its constructor sets the member, although the compiler shows no private field of another assembly
        Assert.Equal("""[{"name":"Value","type":"bytes"}]""", data["Lib.Held<bytes>"]);
    }

    /// <summary>The compiler shows no private field of another assembly, so that a property looked as if it were computed.</summary>
    [Fact]
    public void Member_OfABaseInAnotherAssembly_IsAPartOfTheValue()
    {
        Generation library = Generation.OfAssembly("Lib",
            "namespace Lib; public class Base { public Base() { } public Base(int value) => Value = value; public int Value { get; } public int Twice => 2 * Value; }");
        Generation app = Generation.OfAssembly("App",
            "[Data] public sealed class Own : Lib.Base { public Own() { } public Own(int value) : base(value) { } }", library.AsReference());
        Assert.Empty(app.Errors());
        Assert.Contains("""{"name":"Own","fields":[{"name":"Value","type":"int32"}]}""", ManifestOf(app), StringComparison.Ordinal);
    }

    /// <summary>A use that changes what it is made of gives another contract; another member of the generic type does not.</summary>
    [Fact]
    public void Hash_OfAContract_FollowsTheTypeArguments()
    {
        const string Source = "[Data] public record Page<T>(T[] Items); [Contract] public interface IX { void Go(Page<int> a); }";
        Generation was = Generation.Of(Source);
        Assert.NotEqual(ContractIn(was), ContractIn(was.Edited("Page<int>", "Page<long>")));
        Assert.Equal(ContractIn(was), ContractIn(was.Edited("T[] Items", "T[] Items, int Total = 1")));
    }

    /// <summary>The codec of a use stands in the code of its contract, which is made again if the generic type changes.</summary>
    [Theory]
    [InlineData("/* here */", "public int More => 1;", false)]
    [InlineData("T[] Items", "T[] Items, int Total = 1", true)]
    public void Edit_MakesCodeAgain_WhereAUseHasChanged(string from, string to, bool isMadeAgain)
    {
        Generation edited = Generation.Of(
            "[Data] public record Page<T>(T[] Items, Page<T>? Next = null) { /* here */ } [Contract] public interface IX { void Go(Page<Page<int>> a); }")
            .Edited(from, to);
        Assert.Empty(edited.Errors());
        foreach (string step in new[] { ImmortalGenerator.ContractStep, ImmortalGenerator.ManifestStep })
            Assert.Equal(isMadeAgain, edited.Reasons(step).Contains(IncrementalStepRunReason.Modified));
    }

    [Fact]
    public void State_OfGenericData_SurvivesCheckpointKillAndReplay()
    {
        Generation library = Generation.OfAssembly("Lib", Library);
        Generation generation = Generation.OfAssembly("App", """
            using Lib; using System.Linq;
            public interface IBox { [MethodId(1)] void Fill(); [MethodId(2)] string Tell(); [MethodId(3)] Page<Item> Same(Page<Item> page); }
            public sealed partial class Box : Immortal<IBox>, IBox
            {
                private int _n;
                private Page<Item> _page = new([], 0);
                private Tree<int>? _tree;
                private readonly Dictionary<Pair<string, Item>, Page<Page<int>>> _pairs = [];
                public void Fill()
                {
                    _n++;
                    _page = new Page<Item>([.. _page.Items, new Item("i" + _n)], _n);
                    _tree = new Tree<int> { Value = _n, Children = _tree is null ? [] : [_tree], Best = _tree };
                    _pairs[new Pair<string, Item> { First = "k" + _n, Second = _page.Items[0] }] = new([new([_n], 1)], 2);
                }
                public Page<Item> Same(Page<Item> page) => page with { Total = page.Total + 1 };
                public string Tell() =>
                    $"{_page.Total}: {string.Join(",", _page.Items)} {_tree!.Best!.Value} {ReferenceEquals(_tree.Best, _tree.Children[0])} "
                        + string.Join(";", _pairs.Select(each => $"{each.Key.First}{each.Key.Second}{ReferenceEquals(each.Key.Second, _page.Items[0])}{each.Value.Items[0].Items[0]}"));
            }
            """, library.AsReference());
        Assert.Empty(generation.Diagnostics);
        var context = new AssemblyLoadContext("app");
        library.Load(context);
        Assembly app = generation.Load(context);
        var definition = (ImmortalDefinition)typeof(ImmortalDefinition).GetMethod(nameof(ImmortalDefinition.Of))!
            .MakeGenericMethod(app.GetType("Box")!).Invoke(null, null)!;

        (string live, string restored, string replayed) = Speaking.AskAfter(definition, [1, 1, 1], 2);

        Assert.StartsWith("3: Item { Name = i1 },Item { Name = i2 },Item { Name = i3 } 2 True k1Item { Name = i1 }True1;k2", live,
            StringComparison.Ordinal);
        Assert.Equal(live, restored);
        Assert.Equal(live, replayed);
    }

    private static Generation OfApp(Generation library) =>
        Generation.OfAssembly("App", $"using Lib; {Contract} {Shop}", library.AsReference());

    /// <summary>
    /// Reads the manifest where the compiler has it: a loaded assembly without its library would be in the way of other tests.
    /// </summary>
    private static string ManifestOf(Generation generation) => (string)generation.Output.Assembly.GetAttributes()
        .Single(static each => each.AttributeClass!.Name == nameof(ContractManifestAttribute)).ConstructorArguments[1].Value!;

    private static IEnumerable<string> NamesIn(Generation generation)
    {
        using JsonDocument json = JsonDocument.Parse(ManifestOf(generation));
        return [.. json.RootElement.GetProperty("data").EnumerateArray().Select(static each => each.GetProperty("name").GetString()!)];
    }

    private static string ContractIn(Generation generation)
    {
        using JsonDocument json = JsonDocument.Parse(ManifestOf(generation));
        return json.RootElement.GetProperty("contracts")[0].GetRawText();
    }
}
