using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Perf.Typing;

/// <summary>Makes the source of an app of 2,000 methods in 200 classes, all of which its handlers reach; some handlers await.</summary>
internal static class BigApp
{
    internal const int Classes = 200, Methods = 10, Waiting = 50;

    private const string Head = "using System; using System.Collections.Generic; using System.Linq; using Ambrosia; namespace Big;\n";

    internal static readonly CSharpParseOptions Parse = new(LanguageVersion.Latest);

    internal static CSharpCompilation Compile()
    {
        string fields = string.Concat(Enumerable.Range(0, Classes).Select(static c => $"private readonly Part{c} _p{c} = new();\n"));
        string calls = string.Concat(Enumerable.Range(0, Classes).Select(static c => $"_p{c}.M0(a);\n"));
        string contract = string.Concat(Enumerable.Range(0, Waiting).Select(static w => $"Call Wait{w}(int a);\n"));
        string waiting = string.Concat(Enumerable.Range(0, Waiting).Select(static w =>
            $"public async Call Wait{w}(int a) {{ await Delay(TimeSpan.FromSeconds(1)); int b = a + {w}; _p{w}.M0(b); }}\n"));
        string immortal = $"{Head}public interface IBig {{ void Go(int a); {contract} }}\npublic sealed partial class Big : Immortal<IBig>, IBig {{\n"
            + $"{fields}public void Go(int a) {{\n{calls} }}\n{waiting} }}";
        IEnumerable<string> parts = Enumerable.Range(0, Classes).Select(static c =>
            $"{Head}public sealed class Part{c} {{\nprivate readonly SortedDictionary<string, List<int>> _all = new(StringComparer.Ordinal); private int _count;\n"
            + $"{string.Concat(Enumerable.Range(0, Methods).Select(MethodOf))} }}");
        IEnumerable<string> references = ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator);
        return CSharpCompilation.Create("Big",
            parts.Prepend(immortal).Select(static (text, i) => CSharpSyntaxTree.ParseText(text, Parse, i == 0 ? "Big.cs" : $"Part{i - 1}.cs")),
            references.Select(static path => MetadataReference.CreateFromFile(path)),
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable));
    }

    /// <summary>Binds all bodies, as analyzers need them.</summary>
    internal static void BindAll(Compilation compilation)
    {
        foreach (SyntaxTree tree in compilation.SyntaxTrees)
        {
            SemanticModel model = compilation.GetSemanticModel(tree);
            foreach (SyntaxNode method in tree.GetRoot().DescendantNodes().Where(static each => each is BaseMethodDeclarationSyntax))
                model.GetOperation(method);
        }
    }

    private static string MethodOf(int number) =>
        $"public int M{number}(int a) {{ _count += a; if (!_all.TryGetValue($\"k{{a}}\", out var list)) _all[$\"k{{a}}\"] = list = []; list.Add(a);\n"
        + $"foreach (var pair in _all.Where(each => each.Value.Count > {number}).OrderBy(each => each.Key, StringComparer.Ordinal)) _count += pair.Value.Sum();\n"
        + $"return {(number < Methods - 1 ? $"_count > 1000 ? M{number + 1}(a - 1) : string.Join(',', list).Length" : "_count")}; }}\n";
}
