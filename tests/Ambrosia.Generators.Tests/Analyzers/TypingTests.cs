using Ambrosia.Generators.Determinism;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Behind an edit of a body only the bodies of that file are read again, and what is found is what an analysis of the whole finds.
/// </summary>
public sealed class TypingTests
{
    private const string Handlers = """
        namespace Demo;
        public interface IX { void Go(); Call Later(); [Query] int Ask(string a); }
        public partial class X : Immortal<IXProxy>, IX
        {
            private readonly Part _part = new(); private int _count;
            public void Go() { /* go */ }
            public async Call Later() { await Delay(TimeSpan.Zero); /* later */ }
            public int Ask(string a) { /* ask */ return _count; }
        }
        """;

    private const string Parts = """
        using System; using System.Collections.Generic; using System.Linq;
        namespace Demo;
        public interface IShape { int Draw(); }
        public sealed class Round : IShape { public int Draw() { /* round */ return 1; } }
        public partial class Part : Base
        {
            private readonly List<string> _all = new(); private readonly long _made = 5 /* made */; private static int s_count;
            public List<string> All() { /* all */ return new List<string>(_all); }
            public int Deep<T>(T value, IShape shape) { int Inner() { /* inner */ return shape.Draw(); } return Inner(); }
            public long Each() => _all.Select(each => { /* lambda */ return (long)each.Length; }).Sum();
            public string Name { get { /* name */ return "a"; } set { } }
            public partial int Half();
            public static Part operator +(Part one, int other) { /* plus */ return one; }
            public override int Open() { /* open */ return 1; }
        }
        public partial class Part { public partial int Half() { /* half */ return 2; } }
        public static class Other { public static int UtcNow => 1; }
        public abstract class Base { protected Base() { /* base */ } public abstract int Open(); }
        public class Cell<T> where T : new() { public T Value = new(); public T Get() { /* get */ return Value; } }
        """;

    private const string Clock = "_ = DateTime.UtcNow;";

    /// <summary>The file, the comment in it, and what stands there next; each edit is made behind those before it.</summary>
    private static readonly (int File, string At, string Code)[] s_edits =
    [
        (0, "go", "_part.Each();"), (1, "lambda", Clock),
        (0, "go", "_part.Deep(new Round(), new Round()); _part.Half(); Part p = _part; p += 5; p.Name = p.Name;"),
        (1, "lambda", ""), (1, "inner", Clock), (1, "round", Clock), (1, "inner", "int More() { " + Clock + " return 1; } More();"),
        (1, "round", ""), (1, "half", Clock), (1, "half", ""), (1, "plus", Clock), (1, "plus", ""), (1, "name", Clock), (1, "base", Clock),
        (1, "made", " + DateTime.UtcNow.Ticks"),
        (1, "base", ""), (1, "made", ""), (0, "ask", "_part.All().Add(a);"), (1, "all", "return _all;"), (1, "all", "_all.Clear();"),
        (0, "ask", "_count++;"),
        (0, "later", "_part.Open();"), (1, "open", "s_count++;"), (0, "later", "NondetTask(() => { _count = 1; });"),
        (0, "later", "new Cell<Part>().Get();"), (1, "get", Clock),
        (0, "go", "Base b = _part; b.Open(); IShape s = new Round(); s.Draw(); var a = new { Now = 5 }; _ = a.Now;"), (1, "round", Clock),
        (0, "go", "Action run = () => { _part.Half(); }; run(); NondetTask(() => { run(); });"), (1, "half", Clock), (1, "name", ""),
    ];

    /// <summary>What is found is shown at each file in an editor, and at the end of a build.</summary>
    [Fact]
    public void IsBuild_OptionsOfAWorkspace_AreAnEditors()
    {
        using var workspace = new AdhocWorkspace();
        Assert.False(DeterminismAnalyzer.IsBuild(workspace.AddProject("Demo", LanguageNames.CSharp).AnalyzerOptions));
    }

    [Fact]
    public void Edits_OfBodies_FindWhatAWholeAnalysisFinds()
    {
        Compilation edited = Compile();
        HashSet<string> seen = [];
        Found(edited);
        for (int edit = 0; edit < s_edits.Length; edit++)
        {
            edited = Edited(edited, s_edits[edit]);

            string[] found = Found(edited);
            Assert.Equal(Found(Anew(edited)), found);
            seen.UnionWith(found);
        }
        Assert.True(seen.Count > s_edits.Length / 2, string.Join('\n', seen));
    }

    /// <summary>What is declared may mean something else in every body.</summary>
    [Theory]
    [InlineData("public int Open() {", "public int Open(int a = 5) {")]
    [InlineData("abstract int Open();", "abstract int Open(); public virtual int Other() => Environment.TickCount;")]
    [InlineData("using System.Linq;", "using System.Linq; using DateTime = Demo.Other;")]
    [InlineData("private static int s_count;", "[System.Obsolete] private static int s_count;")]
    [InlineData("private readonly List<string> _all", "private const int Size = 5; private readonly List<string> _all")]
    public void Edit_OfADeclaration_ReadsAllAgain(string from, string to)
    {
        Compilation compilation = Compile();
        Found(compilation);
        int all = ReadBodies(compilation);
        SyntaxTree tree = compilation.SyntaxTrees.ElementAt(1);
        Compilation edited = compilation.ReplaceSyntaxTree(tree, With(tree, tree.ToString().Replace(from, to, StringComparison.Ordinal)));

        Assert.Equal(Found(Anew(edited)), Found(edited));
        Assert.True(ReadBodies(edited) >= all, $"{ReadBodies(edited)} of {all}");
    }

    /// <summary>A file of ten bodies is edited among a hundred of them.</summary>
    [Fact]
    public void Edit_OfABody_ReadsTheBodiesOfItsFileAlone()
    {
        const int files = 100, bodies = 10, initializers = 2; // the class is declared in all files, so that its constructor is read anew
        Compilation compilation = Compile().AddSyntaxTrees([.. Enumerable.Range(0, files).Select(static file => Parse(
            "namespace Demo; public partial class Part { " + string.Concat(Enumerable.Range(0, bodies).Select(each => Body(file, each))) + " }",
            $"{file}.cs"))]);
        string calls = string.Concat(Enumerable.Range(0, files).Select(static file => $"_part.M{file}_0();"));
        compilation = Edited(compilation, (0, "go", calls));
        Found(compilation);
        int before = ReadBodies(compilation);
        Assert.True(before >= files * bodies, $"{before}");
        SyntaxTree tree = compilation.SyntaxTrees.Single(static each => each.FilePath == "7.cs");

        foreach (string code in new[] { "return 7;", "{ return 8; }", "return System.Environment.TickCount;" })
        {
            SyntaxTree next = With(tree, tree.ToString().Replace("/* 5 */", $"{code} /* 5 */", StringComparison.Ordinal));
            Compilation edited = compilation.ReplaceSyntaxTree(tree, next);
            string[] found = Found(edited);

            Assert.Equal(code.Contains("Tick", StringComparison.Ordinal) ? 1 : 0, found.Length);
            Assert.InRange(ReadBodies(edited) - before, bodies, bodies + initializers);
            before = ReadBodies(edited);
            (compilation, tree) = (edited, next);
        }

        static string Body(int file, int each)
        {
            string next = each < bodies - 1 ? $"M{file}_{each + 1}()" : "1";
            return $"public int M{file}_{each}() {{ /* {each} */ return {next}; }}";
        }
    }

    /// <summary>An analysis that the editor has given up leaves nothing half known.</summary>
    [Fact]
    public void Analysis_ThatIsCancelled_LosesNothing()
    {
        Compilation compilation = Edited(Compile(), s_edits[0]);
        Compilation faulty = Edited(compilation, s_edits[1]);
        using var cancel = new CancellationTokenSource();
        cancel.Cancel();

        foreach (Compilation each in new[] { compilation, faulty })
            Assert.ThrowsAny<OperationCanceledException>(() => HandlerReach.Find(each, false, cancel.Token));

        Assert.Empty(HandlerReach.Find(compilation, false, default));
        Assert.Single(HandlerReach.Find(faulty, false, default));
    }

    private static Compilation Compile()
    {
        Compilation whole = Generation.Of(Handlers).Output;
        SyntaxTree[] generated = [.. whole.SyntaxTrees.Skip(1)];
        return whole.RemoveSyntaxTrees(generated).AddSyntaxTrees([Parse(Parts, "Parts.cs"), .. generated]);
    }

    private static SyntaxTree Parse(string text, string path) =>
        CSharpSyntaxTree.ParseText(text, new CSharpParseOptions(LanguageVersion.Latest), path, System.Text.Encoding.UTF8);

    private static SyntaxTree With(SyntaxTree tree, string text) => CSharpSyntaxTree.ParseText(
        text, (CSharpParseOptions)tree.Options, tree.FilePath, System.Text.Encoding.UTF8);

    private static Compilation Edited(Compilation compilation, (int File, string At, string Code) edit)
    {
        SyntaxTree tree = compilation.SyntaxTrees.ElementAt(edit.File);
        string text = tree.ToString();
        string mark = $"/* {edit.At} */";
        int at = text.IndexOf(mark, StringComparison.Ordinal), end = text.IndexOf($"/*{edit.At}*/", StringComparison.Ordinal);
        Assert.True(at >= 0, edit.At);
        string rest = end < 0 ? text[(at + mark.Length)..] : text[(end + edit.At.Length + 4)..];
        return compilation.ReplaceSyntaxTree(tree, With(tree, $"{text[..at]}{mark}{edit.Code}/*{edit.At}*/{rest}"));
    }

    /// <summary>Returns the same compilation, of which nothing can be known.</summary>
    private static Compilation Anew(Compilation compilation) => compilation.RemoveAllSyntaxTrees().AddSyntaxTrees(
        compilation.SyntaxTrees.Select(static each => With(each, each.ToString())));

    private static string[] Found(Compilation compilation)
    {
        Assert.Empty(compilation.GetDiagnostics().Where(static each => each.Severity == DiagnosticSeverity.Error && !each.IsWarningAsError));
        return [.. Analysis.Of(compilation).Select(static each => each.ToString())];
    }

    private static int ReadBodies(Compilation compilation)
    {
        HandlerReach.Find(compilation, false, default);
        return KnownBodies.With(compilation, false, static known => known.Facts.BodiesRead, default);
    }
}
