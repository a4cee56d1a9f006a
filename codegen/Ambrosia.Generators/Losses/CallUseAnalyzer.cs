using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using Ambrosia.Generators.Determinism;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Reports, body by body, Calls that are dropped or awaited twice, and locals of suspended methods that no checkpoint can hold. The
/// compiler calls it on threads of its choice.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class CallUseAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
        [LossRules.Dropped, LossRules.AwaitedTwice, LossRules.Local];

    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(static start =>
        {
            if (start.Compilation.GetTypeByMetadataName("Ambrosia.Immortal") is null) return;
            start.RegisterOperationAction(JudgeStatement, OperationKind.ExpressionStatement);
            start.RegisterOperationBlockAction(JudgeBlock);
        });
    }

    private static void JudgeStatement(OperationAnalysisContext context)
    {
        IOperation value = ((IExpressionStatementOperation)context.Operation).Operation;
        if (value is not IInvocationOperation call || !ImmortalTypes.IsCall(call.Type) || ImmortalTypes.IsTask(call.TargetMethod)) return;
        if (ImmortalTypes.IsSending(call.TargetMethod) && call.TargetMethod.Name.EndsWith("Logged",
            System.StringComparison.Ordinal))
            return; // outside of the handlers somebody may want to go on at once
        string instead = ImmortalTypes.IsSending(call.TargetMethod) && call.TargetMethod.Name.EndsWith("Async",
            System.StringComparison.Ordinal)
            ? "await it, or send it with …Fork, which waits for nothing" : "await it, keep it, or return it; or discard it: _ = …";
        context.ReportDiagnostic(Diagnostic.Create(LossRules.Dropped, call.Syntax.GetLocation(), Places.NameOf(call.TargetMethod),
            instead));
    }

    private static void JudgeBlock(OperationBlockAnalysisContext context)
    {
        foreach (IOperation block in context.OperationBlocks)
        {
            if (!block.Syntax.DescendantNodes().Any(static node => node is AwaitExpressionSyntax)) continue;
            List<IOperation> all = [.. block.DescendantsAndSelf()];
            foreach (IGrouping<ISymbol, ILocalReferenceOperation> uses in all.OfType<ILocalReferenceOperation>()
                .Where(static each => ImmortalTypes.IsCall(each.Type)).GroupBy(static each => (ISymbol)each.Local,
                    SymbolEqualityComparer.Default))
                if (SecondAwait.Find([.. uses]) is { } second)
                    context.ReportDiagnostic(Diagnostic.Create(LossRules.AwaitedTwice, second.Syntax.GetLocation(), uses.Key.Name));
            JudgeLocals(context, all);
        }
    }

    private static void JudgeLocals(OperationBlockAnalysisContext context, List<IOperation> all)
    {
        var judged = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
        foreach (IOperation operation in all)
        {
            ILocalSymbol? local = operation switch
            {
                IVariableDeclaratorOperation declarator => declarator.Symbol,
                IDeclarationPatternOperation { DeclaredSymbol: ILocalSymbol declared } => declared,
                ILocalReferenceOperation { IsDeclaration: true } declared => declared.Local,
                _ => null,
            };
            if (local is null || !judged.Add(local) || SuspendedFunction(local) is not { } function || local.Type.IsRefLikeType) continue;
            if (WhyNot(local, operation, context.Compilation.Assembly) is not { } why) continue;
            context.ReportDiagnostic(Diagnostic.Create(LossRules.Local, local.Locations[0], local.Name,
                local.Type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat), Places.NameOf(function), why));
        }
    }

    private static IMethodSymbol? SuspendedFunction(ILocalSymbol local) =>
        local.ContainingSymbol is IMethodSymbol { IsAsync: true } method && ImmortalTypes.IsCall(method.ReturnType) ? method : null;

    private static string? WhyNot(ILocalSymbol local, IOperation declaration, IAssemblySymbol app)
    {
        if (WritableTypes.WhyNot(local.Type, app, isLocal: true) is { } why) return why;
        IOperation? given = (declaration as IVariableDeclaratorOperation)?.Initializer?.Value;
        return (given as IDelegateCreationOperation)?.Target is IMethodReferenceOperation { Method: var method }
            && Symbols.IsOfFramework(method.ContainingAssembly)
            ? $"{Places.NameOf(method)} is the framework's; write a lambda around it" : null;
    }
}
