using System.Collections.Immutable;
using Ambrosia.Generators.CodeFixes;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>Each fix mends one place, and Fix All mends all of a document; what comes out compiles and is not reported.</summary>
public sealed class CodeFixTests
{
    private const string Head = """
        #pragma warning disable CS0649, CS0169, CS0414, CS8618
        namespace Demo;
        using System.Linq;
        public interface IX { void Go(); Call Later(); }
        """;

    public static TheoryData<string, string, string> Fixes => new()
    {
        { "AMB101", "_at = DateTimeOffset.UtcNow;", "_at = Now;" }, { "AMB101", "_ = DateTime.UtcNow.Ticks;",
            "_ = Now.UtcDateTime.Ticks;" },
        { "AMB101", "_ = DateTime.Today;", "_ = Now.UtcDateTime.Date;" }, { "AMB102", "_ = System.Random.Shared.Next(5);",
            "_ = Random.Next(5);" },
        { "AMB102", "_ = new Random().Next(5);", "_ = Random.Next(5);" }, { "AMB103", "_ = Guid.NewGuid();", "_ = NewGuid();" },
        { "AMB104", "_ = Task.Delay(5);", "_ = Delay(TimeSpan.FromMilliseconds(5));" },
        { "AMB104", "_ = Task.Delay(TimeSpan.FromHours(1));", "_ = Delay(TimeSpan.FromHours(1));" },
        { "AMB111", "_ = \"a\".ToUpper();", "_ = \"a\".ToUpperInvariant();" }, { "AMB111", "_names.Sort();",
            "_names.Sort(StringComparer.Ordinal);" },
        { "AMB111", "_ = _names.OrderBy(a => a);", "_ = _names.OrderBy(a => a, StringComparer.Ordinal);" },
        { "AMB111", "_ = new SortedSet<string>();", "_ = new SortedSet<string>(StringComparer.Ordinal);" },
        { "AMB111", "_ = \"a\".StartsWith(\"b\");", "_ = \"a\".StartsWith(\"b\", StringComparison.Ordinal);" },
        { "AMB121", "thisProxy.GoAsync();", "thisProxy.GoFork();" },
    };

    public static TheoryData<string, string, string> Declarations => new()
    {
        { "AMB131", "public partial class X { private Lazy<int> _a; }", "public partial class X { [NotState] private Lazy<int> _a; }" },
        { "AMB131", "public partial class X { private readonly Lazy<int> _a = new(() => 5); }",
            "public partial class X { [NotState] private Lazy<int>? _aMade;\n\n    private Lazy<int> _a => _aMade ??= new(() => 5); }" },
        { "AMB131", "public partial class X { public Lazy<int> Late { get; } = new(() => 5); }",
            "public partial class X { [NotState] private Lazy<int>? _LateMade;\n\n    public Lazy<int> Late => _LateMade ??= new(() => 5); }" },
        { "AMB134", "public partial class X { [NotState] private readonly List<int> _a = []; }",
            "public partial class X { [NotState] private List<int>? _aMade;\n\n    private List<int> _a => _aMade ??= []; }" },
        { "AMB131", "public partial class X { public Type A { get; set; } }",
            "public partial class X { [NotState] public Type A { get; set; } }" },
        { "AMB132", "[Data] public class D { public int A { get; private set; } }",
            "[Data] public class D { public int A { get; set; } }" },
        { "AMB132", "[Data] public class D { public List<int> A { get; } = []; }",
            "[Data] public class D { public List<int> A { get; set; } = []; }" },
        { "AMB132", "[Data] public class D { public int A { get; private init; } }",
            "[Data] public class D { public int A { get; init; } }" },
        { "AMB132", "[Data] public class D { internal int A { get; set; } }", "[Data] public class D { public int A { get; set; } }" },
        { "AMB132", "[Data] public class D { int A { get; set; } }", "[Data] public class D { public int A { get; set; } }" },
    };

    [Fact]
    public Task Fix_OfAStatement_Mends() => AssertMends("AMB103", Handler("_ = Guid.NewGuid();"), Handler("_ = NewGuid();"), 1);

    [Theory]
    [MemberData(nameof(Declarations))]
    public Task Fix_OfADeclaration_Mends(string id, string from, string to) => AssertMends(id, Handler("") + from, Handler("") + to, 1);

    [Theory]
    [InlineData("[Formerly(nameof(Told))] internal static Call Kept() => throw new InvalidOperationException();",
        "[Formerly(nameof(Told))] private static Call Kept() => throw new InvalidOperationException();")]
    [InlineData("[Formerly(nameof(Told))] protected internal static Call Kept() => throw new InvalidOperationException();",
        "[Formerly(nameof(Told))] private static Call Kept() => throw new InvalidOperationException();")]
    [InlineData("[Formerly(nameof(Told))] private static Call One() => default; [Formerly(\"One\")] private static Call Two() => throw new TimeoutException();",
        "[Formerly(nameof(Told))] private static Call One() => default; [Formerly(nameof(Told))] private static Call Two() => throw new TimeoutException();")]
    public Task Fix_OfAKeptBody_Mends(string from, string to)
    {
        const string told = "public partial class X { private static Call Told() => throw new NotSupportedException(); ";
        return AssertMends("AMB128", $"{Handler("")}{told}{from} }}", $"{Handler("")}{told}{to} }}", 1);
    }

    [Fact]
    public Task Fix_OfALoop_Mends() => AssertMends("AMB126", Loop("_map"), Loop("_map.ToArray()"), 1);

    [Theory]
    [MemberData(nameof(Fixes))]
    public Task FixAll_OfThreeStatements_MendsAll(string id, string from, string to) =>
        AssertMends(id, Handler(from + from + from), Handler(to + to + to), 3);

    [Fact]
    public Task FixAll_OfDeclarations_MendsAll() => AssertMends("AMB132",
        Handler("") + "[Data] public class D { public int A { get; private set; } public int B { get; private set; } internal int C { get; set; } }",
        Handler("") + "[Data] public class D { public int A { get; set; } public int B { get; set; } public int C { get; set; } }", 3);

    /// <summary>Where the immortal's own members cannot be named, there is no fix that compiles, and none is offered.</summary>
    [Fact]
    public async Task Fix_OutsideOfTheImmortal_IsNotOffered()
    {
        (Document document, Diagnostic[] found) = await PrepareAsync(Handler(
            "Clock.Read();") + "static class Clock { public static DateTime Read() => DateTime.UtcNow; }");

        Assert.Empty(await OfferedAsync(document, Assert.Single(found)));
    }

    private static string Handler(string statements) => $$"""
        {{Head}}
        public partial class X : Immortal<IXProxy>, IX
        {
            private DateTimeOffset _at; private readonly List<string> _names = [];
            public void Go() { {{statements}} }
            public Call Later() => default;
        }

        """;

    private static string Loop(string collection) => $$"""
        {{Head}}
        public partial class X : Immortal<IXProxy>, IX
        {
            private readonly Dictionary<string, int> _map = [];
            public void Go() { }
            public async Call Later() { foreach (var a in {{collection}}) await Delay(TimeSpan.FromHours(a.Value)); }
        }
        """;

    private static async Task AssertMends(string id, string from, string to, int count)
    {
        (Document document, Diagnostic[] found) = await PrepareAsync(from);
        Assert.Equal(Enumerable.Repeat(id, count), found.Select(static each => each.Id));
        (CodeFixProvider provider, CodeAction first) = Assert.Single(await OfferedAsync(document, found[0]));

        CodeAction? action = count == 1 ? first : await provider.GetFixAllProvider()!.GetFixAsync(new FixAllContext(
            document, provider, FixAllScope.Document, first.EquivalenceKey, [id], new Found(found), CancellationToken.None));

        ImmutableArray<CodeActionOperation> operations = await action!.GetOperationsAsync(CancellationToken.None);
        Document mended = Assert.Single(operations.OfType<ApplyChangesOperation>()).ChangedSolution.GetDocument(document.Id)!;
        Assert.Equal(Generation.Headed(to), (await mended.GetTextAsync()).ToString());
        Assert.Empty(Analysis.Of(Generation.Of(to)));
    }

    private static async Task<List<(CodeFixProvider Provider, CodeAction Action)>> OfferedAsync(Document document, Diagnostic diagnostic)
    {
        var offered = new List<(CodeFixProvider, CodeAction)>();
        foreach (CodeFixProvider provider in new CodeFixProvider[] { new ReplacementFixes(), new DeclarationFixes() })
            if (provider.FixableDiagnosticIds.Contains(diagnostic.Id))
                await provider.RegisterCodeFixesAsync(
                    new CodeFixContext(document, diagnostic, (action, _) => offered.Add((provider, action)), CancellationToken.None));
        return offered;
    }

    /// <summary>Makes a project of a source and what is generated of it, and judges it.</summary>
    private static async Task<(Document Document, Diagnostic[] Found)> PrepareAsync(string source)
    {
        Generation generation = Generation.Of(source);
        var workspace = new AdhocWorkspace();
        ProjectId project = ProjectId.CreateNewId();
        Solution solution = workspace.CurrentSolution.AddProject(ProjectInfo.Create(project, VersionStamp.Default, "Demo", "Demo",
            LanguageNames.CSharp,
            compilationOptions: generation.Output.Options, parseOptions: new CSharpParseOptions(LanguageVersion.Latest),
            metadataReferences: generation.Output.References));
        DocumentId id = DocumentId.CreateNewId(project);
        foreach (SyntaxTree tree in generation.Output.SyntaxTrees)
            solution = solution.AddDocument(tree == generation.Input.SyntaxTrees[0] ? id : DocumentId.CreateNewId(project),
                Path.GetFileName(tree.FilePath),
                SourceText.From(tree.ToString()), filePath: tree.FilePath);
        Document document = solution.GetDocument(id)!;
        return (document, Analysis.Of((await document.Project.GetCompilationAsync())!));
    }

    /// <summary>It gives Fix All what the analyzers have found.</summary>
    private sealed class Found(Diagnostic[] found) : FixAllContext.DiagnosticProvider
    {
        public override Task<IEnumerable<Diagnostic>> GetAllDiagnosticsAsync(Project project, CancellationToken cancel) =>
            Task.FromResult<IEnumerable<Diagnostic>>(found);

        public override Task<IEnumerable<Diagnostic>> GetDocumentDiagnosticsAsync(Document document, CancellationToken cancel) =>
            Task.FromResult<IEnumerable<Diagnostic>>(found);

        public override Task<IEnumerable<Diagnostic>> GetProjectDiagnosticsAsync(Project project, CancellationToken cancel) =>
            Task.FromResult<IEnumerable<Diagnostic>>([]);
    }
}
