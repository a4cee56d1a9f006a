using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Knows the methods that code calls without naming them: operators, conversions, what a loop, a pattern, a collection or the end of a
/// <c>using</c> needs.
/// </summary>
internal static class HiddenCalls
{
    internal static IEnumerable<IMethodSymbol?> Of(IOperation operation, SemanticModel model) => operation switch
    {
        IBinaryOperation binary => [binary.OperatorMethod],
        IUnaryOperation unary => [unary.OperatorMethod],
        IConversionOperation conversion => [conversion.OperatorMethod],
        ICompoundAssignmentOperation assignment => [assignment.OperatorMethod],
        IIncrementOrDecrementOperation change => [change.OperatorMethod],
        IEventAssignmentOperation { EventReference: IEventReferenceOperation { Event: { } changed }, Adds: var adds } =>
            [adds ? changed.AddMethod : changed.RemoveMethod],
        IRecursivePatternOperation { DeconstructSymbol: IMethodSymbol method } => [method],
        IDeconstructionAssignmentOperation { Syntax: AssignmentExpressionSyntax syntax } =>
            OfDeconstruction(model.GetDeconstructionInfo(syntax)),
        IForEachLoopOperation { Syntax: ForEachVariableStatementSyntax syntax } => OfDeconstruction(model.GetDeconstructionInfo(syntax)),
        IInterpolationOperation { Expression.Type: { } type } => [TextOf(type)],
        IInvocationOperation { TargetMethod: { IsGenericMethod: true } method } => OfArguments(method),
        IWithOperation { CloneMethod: { } clone } => clone.ContainingType.InstanceConstructors.Where(IsCopying),
        ICollectionExpressionOperation collection => OfCollection(collection),
        IUsingOperation { Resources: var resources } => OfDispose(
            (resources as IVariableDeclarationGroupOperation)?.Declarations.FirstOrDefault()?.Declarators.FirstOrDefault()?.Symbol.Type
                ?? resources.Type),
        IUsingDeclarationOperation { DeclarationGroup: var group } => OfDispose(
            group.Declarations.FirstOrDefault()?.Declarators.FirstOrDefault()?.Symbol.Type),
        _ => [],
    };

    /// <summary>Returns what a loop calls on the enumerator that it gets.</summary>
    internal static IEnumerable<IMethodSymbol?> Of(ForEachStatementInfo loop) =>
        [loop.MoveNextMethod, loop.CurrentProperty?.GetMethod, loop.DisposeMethod];

    private static IEnumerable<IMethodSymbol?> OfDeconstruction(DeconstructionInfo deconstruction) =>
        deconstruction.Nested.SelectMany(OfDeconstruction).Append(deconstruction.Method);

    private static IEnumerable<IMethodSymbol?> OfCollection(ICollectionExpressionOperation collection) =>
        collection.Type is { DeclaringSyntaxReferences.IsEmpty: false } type
            ? type.GetMembers("Add").OfType<IMethodSymbol>().Append(collection.ConstructMethod) : [collection.ConstructMethod];

    private static IEnumerable<IMethodSymbol?> OfDispose(ITypeSymbol? type) =>
        type is null ? [] : type.GetMembers("Dispose").Concat(type.GetMembers("DisposeAsync")).OfType<IMethodSymbol>()
            .Where(static each => each.Parameters.Length == 0);

    /// <summary>Returns the constructors that a method may call of the types that it is given.</summary>
    private static IEnumerable<IMethodSymbol?> OfArguments(IMethodSymbol method) => method.TypeParameters
        .Where(static each => each.HasConstructorConstraint)
        .Select(each => (method.TypeArguments[each.Ordinal] as INamedTypeSymbol)?.InstanceConstructors
            .FirstOrDefault(static constructor => constructor.Parameters.IsEmpty));

    /// <summary>Returns how an object of the app's own becomes a text.</summary>
    private static IMethodSymbol? TextOf(ITypeSymbol type)
    {
        for (ITypeSymbol? at = type; at is { DeclaringSyntaxReferences.IsEmpty: false }; at = at.BaseType)
            if (at.GetMembers("ToString").OfType<IMethodSymbol>()
                .FirstOrDefault(static each => each.Parameters.IsEmpty && !each.IsImplicitlyDeclared) is { } found) return found;
        return null;
    }

    private static bool IsCopying(IMethodSymbol constructor) => constructor.Parameters.Length == 1
        && SymbolEqualityComparer.Default.Equals(constructor.Parameters[0].Type, constructor.ContainingType);
}
