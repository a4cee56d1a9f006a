using System.Collections.Immutable;
using System.Linq;
using System.Threading;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Reports methods marked [Formerly] in which nothing that is suspended could go on, or which others could call. The compiler calls it on
/// threads of its choice.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class FormerBodyAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [LossRules.Kept];

    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(static start =>
        {
            if (start.Compilation.GetTypeByMetadataName("Ambrosia.FormerlyAttribute") is null) return;
            start.RegisterSymbolAction(JudgeMethod, SymbolKind.Method);
        });
    }

    private static void JudgeMethod(SymbolAnalysisContext context)
    {
        var kept = (IMethodSymbol)context.Symbol;
        if (FormerBodies.NameOf(kept) is not { } name || WhyNot(kept, name, context.CancellationToken) is not { } why) return;
        context.ReportDiagnostic(Diagnostic.Create(LossRules.Kept, kept.Locations[0], kept.Name, name, why));
    }

    private static string? WhyNot(IMethodSymbol kept, string name, CancellationToken cancel)
    {
        IMethodSymbol[] named = [.. FormerBodies.Named(kept, name)];
        if (named.Length == 0)
            return $"{kept.ContainingType.Name} has no method {name}; where the method is gone, keep its old body under its own name, without [Formerly]";
        if (named.FirstOrDefault(each => FormerBodies.HaveOneSignature(each, kept)) is not { } now)
            return $"no {name} has the same parameters and the same result; where those changed, keep the old method under its own name, as an overload without [Formerly]";
        if (SymbolEqualityComparer.Default.Equals(now, kept)) return "it is that method; give the kept body a name of its own";
        if (FormerBodies.NameOf(now) is { } first) return $"{name} keeps a body itself; name the method that is called, {first}";
        if (kept.DeclaredAccessibility != Accessibility.Private || kept.ExplicitInterfaceImplementations.Length > 0)
            return "others could call it; make it private, since only what is suspended goes on in it";
        return FormerBodies.In(kept.ContainingType).TakeWhile(each => !SymbolEqualityComparer.Default.Equals(each, kept))
            .FirstOrDefault(each => FormerBodies.NameOf(each) == name && FormerBodies.HaveOneSignature(each, kept)
                && IsSameBody(each, kept, cancel)) is { } same ? $"{same.Name} keeps the same body; remove one of the two" : null;
    }

    /// <summary>Compares bodies by their tokens, which mean the same within one class.</summary>
    private static bool IsSameBody(IMethodSymbol one, IMethodSymbol other, CancellationToken cancel) =>
        TokensOf(one, cancel) is { } tokens && TokensOf(other, cancel) is { } others && tokens.SequenceEqual(others);

    private static string[]? TokensOf(IMethodSymbol method, CancellationToken cancel) =>
        method.DeclaringSyntaxReferences.FirstOrDefault()?.GetSyntax(cancel) is MethodDeclarationSyntax syntax
            ? [.. ((SyntaxNode?)syntax.Body ?? syntax.ExpressionBody)?.DescendantTokens().Select(static each => each.Text) ?? []] : null;
}
