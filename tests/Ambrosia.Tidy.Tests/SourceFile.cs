using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests;

/// <summary>A C# source with its syntax, parsed when first asked for.</summary>
internal sealed class SourceFile(string path, string text)
{
    private readonly Lazy<CompilationUnitSyntax> syntax =
        new(() => CSharpSyntaxTree.ParseText(text, new CSharpParseOptions(LanguageVersion.Preview)).GetCompilationUnitRoot());

    public string Path => path;

    public string Text => text;

    public CompilationUnitSyntax Syntax => syntax.Value;

    public int LineCount => text.AsSpan().Count('\n');

    public bool IsTest => path.StartsWith("tests/", StringComparison.Ordinal);

    /// <summary>In a project that holds tests; other folders below tests/ hold the programs that they run.</summary>
    public bool IsSuite =>
        IsTest && (path.Split('/')[1].EndsWith(".Tests", StringComparison.Ordinal) || path.Split('/')[1] == "Ambrosia.Simulation");

    public bool IsGenerated => path.EndsWith(".g.cs", StringComparison.Ordinal);

    public override string ToString() => path;
}
