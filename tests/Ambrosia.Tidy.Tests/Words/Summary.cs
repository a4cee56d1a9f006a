using System.Text;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Words;

/// <summary>A summary of a source as it is read: tags are gone, and quotations of code stand as one sign.</summary>
/// <param name="Line">From 1.</param>
/// <param name="Text">One line.</param>
/// <param name="IsOfType">Whether a type is what it tells of.</param>
/// <param name="EndsInList">Whether a list ends it: what stands before ends with a colon.</param>
internal sealed partial record Summary(int Line, string Text, bool IsOfType, bool EndsInList)
{
    public static IEnumerable<Summary> In(CompilationUnitSyntax source) =>
        from comment in source.DescendantTrivia()
        where comment.IsKind(SyntaxKind.SingleLineDocumentationCommentTrivia)
        from element in ((DocumentationCommentTriviaSyntax)comment.GetStructure()!).Content.OfType<XmlElementSyntax>()
        where element.StartTag.Name.LocalName.Text == "summary"
        select Of(element, IsAboveType(comment.Token));

    private static Summary Of(XmlElementSyntax element, bool isOfType)
    {
        var text = new StringBuilder();
        bool endsInList = Append(text, element.Content);
        int line = element.SyntaxTree.GetLineSpan(element.Span).StartLinePosition.Line + 1;
        return new Summary(line, Blank().Replace(text.ToString(), " ").Trim(), isOfType, endsInList);
    }

    private static bool IsAboveType(SyntaxToken token) => token.Parent?.AncestorsAndSelf().OfType<MemberDeclarationSyntax>()
        .LastOrDefault(member => member.GetFirstToken() == token) is BaseTypeDeclarationSyntax or DelegateDeclarationSyntax;

    /// <summary>Returns whether a list was the last that was found.</summary>
    private static bool Append(StringBuilder text, SyntaxList<XmlNodeSyntax> content)
    {
        bool endsInList = false;
        foreach (XmlNodeSyntax node in content)
        {
            if (node is XmlTextSyntax words)
            {
                string written = string.Concat(words.TextTokens.Select(static token => token.ValueText));
                text.Append(written);
                endsInList &= string.IsNullOrWhiteSpace(written);
                continue;
            }

            string name = (node as XmlElementSyntax)?.StartTag.Name.LocalName.Text ?? "";
            endsInList = name == "list";
            if (name is "para" or "b" or "i" or "em" or "strong") endsInList = Append(text, ((XmlElementSyntax)node).Content);
            else if (name != "list") text.Append(Sentence.Code);
        }

        return endsInList;
    }

    [GeneratedRegex(@"\s+")]
    private static partial Regex Blank();
}
