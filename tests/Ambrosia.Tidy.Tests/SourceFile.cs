using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests;

/// <summary>A C# source with its syntax, parsed when first asked for.</summary>
internal sealed class SourceFile(string path, string text)
{
    /// <summary>What lies there becomes users' code.</summary>
    internal const string Templates = "packaging/Ambrosia.Templates/templates/";

    private static readonly string[] s_outsideTheProduct = ["tests/", "samples/", "perf/", Templates];

    /// <summary>Kinds of small types that are read together; a file that holds some of one kind ends in its plural.</summary>
    private static readonly string[] s_kinds =
        ["Attributes", "Awaiters", "Builders", "Codecs", "Exceptions", "Frames", "Identities", "Locks", "Positions", "Records",
            "Searches"];

    private readonly Lazy<CompilationUnitSyntax> _syntax =
        new(() => CSharpSyntaxTree.ParseText(text, new CSharpParseOptions(LanguageVersion.Preview)).GetCompilationUnitRoot());

    public string Path => path;

    public string Text => text;

    public CompilationUnitSyntax Syntax => _syntax.Value;

    public int LineCount => text.AsSpan().Count('\n');

    public bool IsTest => path.StartsWith("tests/", StringComparison.Ordinal);

    /// <summary>Whether users and operators get it: neither a test nor a sample nor a measurement nor a template.</summary>
    public bool IsProduct => !s_outsideTheProduct.Any(folder => path.StartsWith(folder, StringComparison.Ordinal));

    /// <summary>In a project that holds tests; other folders below tests/ hold the programs that they run.</summary>
    public bool IsSuite =>
        IsTest && (path.Split('/')[1].EndsWith(".Tests", StringComparison.Ordinal) || path.Split('/')[1] == "Ambrosia.Simulation");

    /// <summary>Whether the file is named after a kind of small types, as AppFrames is: none of them alone would be a subject.</summary>
    public bool IsOfAKind =>
        s_kinds.Any(kind => System.IO.Path.GetFileNameWithoutExtension(path).EndsWith(kind, StringComparison.Ordinal));

    public bool IsGenerated => path.EndsWith(".g.cs", StringComparison.Ordinal);

    /// <summary>The types that the file declares outside of other types.</summary>
    public IEnumerable<DeclaredType> Types =>
        from member in Syntax.DescendantNodes(static node => node is CompilationUnitSyntax or BaseNamespaceDeclarationSyntax)
        where member is BaseTypeDeclarationSyntax or DelegateDeclarationSyntax
        select DeclaredType.Of((MemberDeclarationSyntax)member);

    public override string ToString() => path;
}
