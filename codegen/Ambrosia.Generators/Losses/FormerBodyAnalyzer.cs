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
    /// <summary>
    /// They tell the code fix what mends a method: to name the one that is called, which is the value, or to make it private.
    /// </summary>
    private const string Named = "Named", Private = "Private";

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
        ImmutableDictionary<string, string?> fix = ImmutableDictionary<string, string?>.Empty;
        if (FormerBodies.NameOf(kept) is not { } name || WhyNot(kept, name, ref fix, context.CancellationToken) is not { } why) return;
        context.ReportDiagnostic(Diagnostic.Create(LossRules.Kept, kept.Locations[0], fix, kept.Name, name, why));
    }

    /// <param name="fix">Is given what the code fix needs, where there is one.</param>
    private static string? WhyNot(IMethodSymbol kept, string name, ref ImmutableDictionary<string, string?> fix, CancellationToken cancel)
    {
        IMethodSymbol[] named = [.. FormerBodies.Named(kept, name)];
        if (named.Length == 0)
            return $"{kept.ContainingType.Name} has no method {name}; where the method is gone, keep its old body under its own name, without [Formerly]";
        if (named.FirstOrDefault(each => FormerBodies.HaveOneSignature(each, kept)) is not { } now)
            return $"no {name} has the same parameters and the same result; where those changed, keep the old method under its own name, as an overload without [Formerly]";
        if (SymbolEqualityComparer.Default.Equals(now, kept)) return "it is that method; give the kept body a name of its own";
        if (FormerBodies.NameOf(now) is { } first)
        {
            fix = fix.Add(Named, first);
            return $"{name} keeps a body itself; name the method that is called, {first}";
        }
        if (kept.DeclaredAccessibility != Accessibility.Private || kept.ExplicitInterfaceImplementations.Length > 0)
        {
            if (kept is { ExplicitInterfaceImplementations.IsEmpty: true, IsVirtual: false, IsOverride: false }) fix = fix.Add(Private, "");
            return "others could call it; make it private, since only what is suspended goes on in it";
        }
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
