using System.Collections.Immutable;
using Ambrosia.Generators;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Suspension.Tests;

/// <summary>The shapes, edited and compiled with the generator, as an assembly file of its own folder.</summary>
internal sealed class Variant
{
    private static readonly CSharpParseOptions s_parse = new(LanguageVersion.Latest);

    private static readonly ImmutableArray<MetadataReference> s_references =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(
                static path => Path.GetFileName(path) is { } name
                    && (name.StartsWith("System.", StringComparison.Ordinal)
                        || name is "netstandard.dll" or "mscorlib.dll" or "Ambrosia.dll" or "Ambrosia.Protocol.dll"))
            .Select(static path => MetadataReference.CreateFromFile(path)),
    ];

    private Variant(string file) => File = file;

    public string File { get; }

    public static string Source { get; } = ReadSource();

    /// <param name="assembly">Its name.</param>
    /// <param name="references">Assemblies that it uses beside the binding.</param>
    /// <exception cref="InvalidOperationException">It does not compile.</exception>
    public static Variant Compile(
        string root, string name, string source, OptimizationLevel level, string assembly = "Demo", params Variant[] references)
    {
        string directory = Directory.CreateDirectory(Path.Combine(root, name)).FullName;
        string path = Path.Combine(directory, $"{assembly}.dll");
        System.IO.File.WriteAllText(Path.Combine(directory, "Shapes.cs"), source);
        SyntaxTree tree = CSharpSyntaxTree.ParseText(SourceText.From(source, System.Text.Encoding.UTF8), s_parse,
            Path.Combine(directory, "Shapes.cs"));
        var compilation = CSharpCompilation.Create(
            assembly, [tree], [.. s_references, .. references.Select(static each => MetadataReference.CreateFromFile(each.File))],
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable,
                optimizationLevel: level, deterministic: true, allowUnsafe: true));
        CSharpGeneratorDriver.Create([new ImmortalGenerator().AsSourceGenerator()], parseOptions: s_parse)
            .RunGeneratorsAndUpdateCompilation(compilation, out Compilation output, out _);
        using FileStream to = System.IO.File.Create(path), pdb = System.IO.File.Create(Path.ChangeExtension(path, ".pdb"));
        EmitResult emitted = output.Emit(to, pdb, options: new EmitOptions(debugInformationFormat: DebugInformationFormat.PortablePdb));
        if (!emitted.Success)
            throw new InvalidOperationException(
                string.Join('\n', emitted.Diagnostics.Where(static each => each.Severity == DiagnosticSeverity.Error)));
        return new Variant(path);
    }

    /// <summary>Every edit must find its place once.</summary>
    public static string Edit(string source, params (string From, string To)[] edits)
    {
        foreach ((string from, string to) in edits)
        {
            int at = source.IndexOf(from, StringComparison.Ordinal);
            if (at < 0 || source.IndexOf(from, at + 1, StringComparison.Ordinal) >= 0)
                throw new InvalidOperationException($"the edit of '{from}' has not one place");
            source = string.Concat(source.AsSpan(0, at), to, source.AsSpan(at + from.Length));
        }
        return source;
    }

    private static string ReadSource()
    {
        using var reader = new StreamReader(typeof(Variant).Assembly.GetManifestResourceStream("Shapes.cs")!);
        return reader.ReadToEnd();
    }
}
