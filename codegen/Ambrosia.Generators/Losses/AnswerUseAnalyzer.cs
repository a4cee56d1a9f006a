using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Reports patterns that ask whether the answer to a query is there. It is a struct that holds the value with its position, so that it
/// always is, and what was not found is taken for found. The compiler calls it on threads of its choice.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class AnswerUseAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [LossRules.Answer];

    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(static start =>
        {
            if (start.Compilation.GetTypeByMetadataName("Ambrosia.Client.QueryAnswer`1") is not { } answer) return;
            start.RegisterOperationAction(context => Judge(context, answer), OperationKind.RecursivePattern);
        });
    }

    private static void Judge(OperationAnalysisContext context, INamedTypeSymbol answer)
    {
        var pattern = (IRecursivePatternOperation)context.Operation;
        if (!SymbolEqualityComparer.Default.Equals(pattern.InputType.OriginalDefinition, answer)
            || pattern.PropertySubpatterns.Length > 0 || pattern.DeconstructionSubpatterns.Length > 0) return;
        string asked = pattern.Parent is IIsPatternOperation { Value: var value } ? value.Syntax.ToString() : "What is matched";
        context.ReportDiagnostic(Diagnostic.Create(LossRules.Answer, pattern.Syntax.GetLocation(), asked,
            pattern.InputType.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)));
    }
}
