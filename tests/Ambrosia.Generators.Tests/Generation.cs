using System.Collections.Immutable;
using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.Tests;

/// <summary>Runs the generator on a source, as the compiler would, and compiles what comes out.</summary>
internal sealed class Generation
{
    /// <summary>The lines of using directives that each source gets.</summary>
    internal const int HeadLines = 4;

    private static readonly CSharpParseOptions s_parse = new(LanguageVersion.Latest);

    /// <summary>The oldest language that generated code is written in.</summary>
    private static readonly CSharpParseOptions s_oldest = new(LanguageVersion.CSharp12);

    private static readonly ImmutableArray<MetadataReference> s_framework =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(
                path => Path.GetFileName(path) is { } name
                    && (name.StartsWith("System.", StringComparison.Ordinal) || name is "netstandard.dll" or "mscorlib.dll"))
            .Select(path => MetadataReference.CreateFromFile(path)),
        MetadataReference.CreateFromFile(typeof(Immortal).Assembly.Location),
        MetadataReference.CreateFromFile(typeof(Protocol.Lsn).Assembly.Location),
        MetadataReference.CreateFromFile(typeof(Client.ImmortalClient).Assembly.Location),
    ];

    private Generation(CSharpCompilation compilation, GeneratorDriver driver)
    {
        Driver = driver.RunGeneratorsAndUpdateCompilation(compilation, out Compilation output, out ImmutableArray<Diagnostic> diagnostics);
        Input = compilation;
        Output = output;
        Diagnostics = [.. diagnostics];
    }

    internal GeneratorDriver Driver { get; }

    internal CSharpCompilation Input { get; }

    internal Compilation Output { get; }

    /// <summary>The diagnostics of the generator itself.</summary>
    internal ImmutableArray<Diagnostic> Diagnostics { get; }

    internal static Generation Of(string source, params MetadataReference[] references) => OfAssembly("Demo", source, references);

    /// <summary>Returns a source behind the using directives that each gets.</summary>
    internal static string Headed(string source) =>
        "using System;\nusing System.Collections.Generic;\nusing System.Threading.Tasks;\nusing Ambrosia;\n" + source;

    internal static Generation OfAssembly(string assembly, string source, params MetadataReference[] references)
    {
        SyntaxTree tree = CSharpSyntaxTree.ParseText(Headed(source), s_parse, "Demo.cs", System.Text.Encoding.UTF8);
        var compilation = CSharpCompilation.Create(
            assembly, [tree], [.. s_framework, .. references],
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable,
                allowUnsafe: true, generalDiagnosticOption: ReportDiagnostic.Error));
        var options = new GeneratorDriverOptions(IncrementalGeneratorOutputKind.None, trackIncrementalGeneratorSteps: true);
        return new Generation(compilation,
            CSharpGeneratorDriver.Create([new ImmortalGenerator().AsSourceGenerator()], parseOptions: s_parse, driverOptions: options));
    }

    /// <summary>Runs the same driver on an edited source.</summary>
    internal Generation Edited(string from, string to)
    {
        SyntaxTree tree = Input.SyntaxTrees[0];
        string text = tree.ToString();
        Assert.Contains(from, text, StringComparison.Ordinal);
        return new Generation(
            Input.ReplaceSyntaxTree(tree,
                CSharpSyntaxTree.ParseText(text.Replace(from, to, StringComparison.Ordinal), s_parse, tree.FilePath)), Driver);
    }

    /// <summary>
    /// Returns what the compiler reports of source and generated code together, and of the code that is generated in a project without
    /// nullable types and of the oldest language. Warnings count as errors.
    /// </summary>
    internal string[] Errors() => [.. ErrorsHere(), .. Oldest().WarningsInGeneratedCode()];

    /// <summary>Generates for the same source in a project of the oldest language that says nothing of nulls.</summary>
    private Generation Oldest() => In(s_oldest, NullableContextOptions.Disable);

    /// <summary>Generates for the same source in a project of another language version.</summary>
    internal Generation In(LanguageVersion version) => In(new CSharpParseOptions(version), NullableContextOptions.Enable);

    private Generation In(CSharpParseOptions parse, NullableContextOptions nullable)
    {
        IEnumerable<SyntaxTree> trees = Input.SyntaxTrees.Select(tree =>
            CSharpSyntaxTree.ParseText(tree.ToString(), parse, tree.FilePath, System.Text.Encoding.UTF8));
        CSharpCompilation compilation = Input.RemoveAllSyntaxTrees().AddSyntaxTrees(trees)
            .WithOptions(Input.Options.WithNullableContextOptions(nullable));
        return new Generation(compilation, CSharpGeneratorDriver.Create([new ImmortalGenerator().AsSourceGenerator()], parseOptions: parse));
    }

    private IEnumerable<string> WarningsInGeneratedCode() => Output.GetDiagnostics()
        .Where(each => each.Severity >= DiagnosticSeverity.Warning)
        .Where(each => each.Location.SourceTree is { } tree && !Input.SyntaxTrees.Contains(tree))
        .Select(each => each.ToString());

    private IEnumerable<string> ErrorsHere() =>
        [.. Output.GetDiagnostics().Where(each => each.Severity >= DiagnosticSeverity.Warning).Select(each => each.ToString())];

    /// <summary>Returns what the compiler reports of generated code alone.</summary>
    internal string[] ErrorsInGeneratedCode() => [.. Output.GetDiagnostics()
        .Where(each => each.Severity == DiagnosticSeverity.Error && each.Location.SourceTree is { } tree && tree != Input.SyntaxTrees[0])
        .Select(each => each.ToString())];

    internal string Generated(string file) =>
        Output.SyntaxTrees.Single(tree => tree.FilePath.EndsWith(file, StringComparison.Ordinal)).ToString();

    internal IEnumerable<string> Files() =>
        Output.SyntaxTrees.Skip(1).Select(tree => Path.GetFileName(tree.FilePath)).Order(StringComparer.Ordinal);

    internal MetadataReference AsReference() => MetadataReference.CreateFromImage(Emit());

    internal Assembly Load() => Assembly.Load(Emit());

    /// <summary>Loads it where it finds the assemblies that were loaded there before.</summary>
    internal Assembly Load(System.Runtime.Loader.AssemblyLoadContext context) => context.LoadFromStream(new MemoryStream(Emit()));

    /// <summary>Returns why the outputs of a step were made again, or were not.</summary>
    internal IncrementalStepRunReason[] Reasons(string step) =>
        [.. Driver.GetRunResult().Results[0].TrackedSteps.TryGetValue(step, out var runs)
            ? runs.SelectMany(run => run.Outputs).Select(output => output.Reason) : []];

    private byte[] Emit()
    {
        Assert.Empty(Errors());
        using var bytes = new MemoryStream();
        Assert.True(Output.Emit(bytes).Success);
        return bytes.ToArray();
    }
}
