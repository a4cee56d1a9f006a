using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Suspension.Tests;

/// <summary>Edits methods as an author does who keeps the old body of each: a copy under another name, marked, right behind it.</summary>
internal static class Keeping
{
    private const string Suffix = "Before";

    /// <summary>Every edit must find its place once, within one method.</summary>
    public static string Edit(string source, params (string From, string To)[] edits) =>
        edits.Aggregate(source, static (text, edit) => EditOne(text, edit.From, edit.To));

    private static string EditOne(string source, string from, string to)
    {
        string edited = Variant.Edit(source, (from, to));
        int at = source.IndexOf(from, StringComparison.Ordinal);
        MethodDeclarationSyntax method = CSharpSyntaxTree.ParseText(source).GetRoot().FindNode(new TextSpan(at, from.Length))
            .AncestorsAndSelf().OfType<MethodDeclarationSyntax>().First();
        string isStatic = method.Modifiers.Any(SyntaxKind.StaticKeyword) ? "static " : "", name = method.Identifier.Text;
        string kept = $"\n    [Formerly(nameof({name}))]\n    private {isStatic}async {method.ReturnType} {name}{Suffix}"
            + source[method.Identifier.Span.End..method.Span.End];
        return edited.Insert(method.Span.End + to.Length - from.Length, kept);
    }
}
