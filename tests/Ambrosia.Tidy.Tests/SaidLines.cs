using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests;

/// <summary>
/// Finds what is said to operators: the argument of each call of a method named Say with one argument, each branch of a choice by itself.
/// </summary>
internal static class SaidLines
{
    public static IEnumerable<string> In(SyntaxNode source) =>
        from call in source.DescendantNodes().OfType<InvocationExpressionSyntax>()
        where NameOf(call.Expression) is "Say" or "say" && call.ArgumentList.Arguments.Count == 1
        from branch in BranchesOf(call.ArgumentList.Arguments[0].Expression)
        select branch.ToString();

    public static IEnumerable<string> In(string text) => In(CSharpSyntaxTree.ParseText(text).GetRoot());

    private static string NameOf(ExpressionSyntax method) =>
        method is MemberAccessExpressionSyntax member ? member.Name.Identifier.Text : method.ToString();

    private static IEnumerable<ExpressionSyntax> BranchesOf(ExpressionSyntax said) =>
        said is ConditionalExpressionSyntax choice ? [.. BranchesOf(choice.WhenTrue), .. BranchesOf(choice.WhenFalse)] : [said];
}
