using System.Collections.Generic;
using System.Collections.Immutable;
using System.Composition;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.CodeFixes;

/// <summary>
/// Replaces an expression that is no function of the log by the binding's own, where there is one that does the same. Editors call it on
/// threads of their choice.
/// </summary>
[ExportCodeFixProvider(LanguageNames.CSharp), Shared]
public sealed class ReplacementFixes : CodeFixProvider
{
    private const string Ordinal = "StringComparer.Ordinal";

    /// <summary>The immortal's own members that stand for those of the framework, in its own methods.</summary>
    private static readonly Dictionary<string, string> s_ofImmortal = new()
    {
        ["System.DateTimeOffset.UtcNow"] = "Now", ["System.DateTimeOffset.Now"] = "Now", ["System.DateTime.UtcNow"] = "Now.UtcDateTime",
        ["System.DateTime.Now"] = "Now.UtcDateTime", ["System.DateTime.Today"] = "Now.UtcDateTime.Date",
            ["System.Random.Shared"] = "Random",
        ["System.Random.Random"] = "Random", ["System.Guid.NewGuid"] = "NewGuid()", ["System.Guid.CreateVersion7"] = "NewGuid()",
    };

    public override ImmutableArray<string> FixableDiagnosticIds { get; } = ["AMB101", "AMB102", "AMB103", "AMB104", "AMB111", "AMB121",
        "AMB126"];

    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        SyntaxNode? root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        SemanticModel? model = await context.Document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        if (root is null || model is null) return;
        foreach (Diagnostic diagnostic in context.Diagnostics)
        {
            if (root.FindNode(diagnostic.Location.SourceSpan, getInnermostNodeForTie: true) is not ExpressionSyntax found) continue;
            ExpressionSyntax whole = found.Parent is InvocationExpressionSyntax call && call.Expression == found ? call : found;
            if (Replacement(diagnostic.Id, whole, model, context.CancellationToken) is not (string text, string title)) continue;
            context.RegisterCodeFix(
                CodeAction.Create(title, _ => Task.FromResult(Replaced(context.Document, root, whole, text)),
                    $"{diagnostic.Id} {title}"), diagnostic);
        }
    }

    private static Document Replaced(Document document, SyntaxNode root, ExpressionSyntax from, string to) =>
        document.WithSyntaxRoot(root.ReplaceNode(from, SyntaxFactory.ParseExpression(to).WithTriviaFrom(from)));

    private static (string Text, string Title)? Replacement(string rule, ExpressionSyntax at, SemanticModel model,
        CancellationToken cancel) => rule switch
    {
        "AMB101" or "AMB102" or "AMB103" => OfImmortal(at, model, cancel),
        "AMB104" => OfDelay(at, model, cancel),
        "AMB111" => OfCulture(at, model, cancel),
        "AMB121" => OfDropped(at),
        "AMB126" => ($"{Operand(at)}.ToArray()", "Enumerate a copy in an array"),
        _ => null,
    };

    private static (string Text, string Title)? OfImmortal(ExpressionSyntax at, SemanticModel model, CancellationToken cancel)
    {
        if (!IsInImmortal(at, model, cancel) || model.GetSymbolInfo(at, cancel).Symbol is not { } member) return null;
        string name = member is IMethodSymbol { MethodKind: MethodKind.Constructor }
            ? $"{member.ContainingType.ToDisplayString()}.{member.ContainingType.Name}"
            : $"{member.ContainingType.ToDisplayString()}.{member.Name}";
        return s_ofImmortal.TryGetValue(name, out string? text) ? (text, $"Use {text}") : null;
    }

    private static (string Text, string Title)? OfDelay(ExpressionSyntax at, SemanticModel model, CancellationToken cancel)
    {
        if (at is not InvocationExpressionSyntax { ArgumentList.Arguments: { Count: > 0 } arguments } || !IsInImmortal(at, model, cancel)
            || model.GetSymbolInfo(at, cancel).Symbol is not IMethodSymbol { Name: "Delay",
                ContainingType.Name: "Task" } method) return null;
        string time = arguments[0].Expression.ToString();
        return (method.Parameters[0].Type.SpecialType == SpecialType.System_Int32
            ? $"Delay(TimeSpan.FromMilliseconds({time}))" : $"Delay({time})", "Use Delay, a timer of the log");
    }

    private static (string Text, string Title)? OfCulture(ExpressionSyntax at, SemanticModel model, CancellationToken cancel)
    {
        if (model.GetSymbolInfo(at, cancel).Symbol is not { } member) return null;
        if (at is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax access } call)
        {
            if (member.Name is "ToUpper" or "ToLower" && call.ArgumentList.Arguments.Count == 0)
                return ($"{access.Expression}.{member.Name}Invariant()", $"Use {member.Name}Invariant()");
            if (member.Name.StartsWith("OrderBy", System.StringComparison.Ordinal) || member.Name.StartsWith("ThenBy",
                System.StringComparison.Ordinal)
                || (member.Name is "Sort" or "Order" or "OrderDescending" && call.ArgumentList.Arguments.Count == 0))
                return (call.WithArgumentList(With(call.ArgumentList, Ordinal)).ToString(), $"Order by {Ordinal}");
            if (member.Name is "StartsWith" or "EndsWith" or "IndexOf" or "LastIndexOf" && call.ArgumentList.Arguments.Count == 1)
                return (call.WithArgumentList(With(call.ArgumentList, "StringComparison.Ordinal")).ToString(), "Compare ordinally");
        }
        return at switch
        {
            ObjectCreationExpressionSyntax made => (made.WithArgumentList(With(made.ArgumentList, Ordinal)).ToString(),
                $"Order by {Ordinal}"),
            ImplicitObjectCreationExpressionSyntax made => (made.WithArgumentList(With(made.ArgumentList, Ordinal)).ToString(),
                $"Order by {Ordinal}"),
            _ => null,
        };
    }

    private static (string Text, string Title)? OfDropped(ExpressionSyntax at)
    {
        const string Suffix = "Async";
        if (at is not InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax access } call) return null;
        string name = access.Name.Identifier.ValueText;
        if (!name.EndsWith(Suffix, System.StringComparison.Ordinal)) return null;
        string fork = name.Substring(0, name.Length - Suffix.Length) + "Fork";
        return ($"{access.Expression}.{fork}{call.ArgumentList}", $"Send it with {fork}");
    }

    private static ArgumentListSyntax With(ArgumentListSyntax? arguments, string further) =>
        (arguments ?? SyntaxFactory.ArgumentList()).WithoutTrivia().AddArguments(SyntaxFactory.Argument(
            SyntaxFactory.ParseExpression(arguments is { Arguments.Count: > 0 } ? " " + further : further)));

    private static string Operand(ExpressionSyntax at) => at is IdentifierNameSyntax or MemberAccessExpressionSyntax
        or InvocationExpressionSyntax
        or ElementAccessExpressionSyntax or ObjectCreationExpressionSyntax or ThisExpressionSyntax ? $"{at}" : $"({at})";

    /// <summary>Tells whether the members that an immortal inherits can be named here.</summary>
    private static bool IsInImmortal(ExpressionSyntax at, SemanticModel model, CancellationToken cancel)
    {
        ISymbol? member = model.GetEnclosingSymbol(at.SpanStart, cancel);
        while (member is IMethodSymbol { MethodKind: MethodKind.LocalFunction
            or MethodKind.AnonymousFunction }) member = member.ContainingSymbol;
        if (member is null or { IsStatic: true } or IFieldSymbol) return false;
        for (INamedTypeSymbol? type = member.ContainingType; type is not null; type = type.BaseType)
            if (type is { Name: "Immortal", ContainingNamespace: { Name: "Ambrosia",
                ContainingNamespace.IsGlobalNamespace: true } }) return true;
        return false;
    }
}
