using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges uses of static members: what a process changes there, no checkpoint holds and no other replica sees. What never changes is fine.
/// </summary>
internal static class StaticRules
{
    private const string Rule = "AMB107", Mend = "a field of the immortal, which is state";

    /// <summary>The methods by which the framework's collections are changed.</summary>
    internal static readonly HashSet<string> Changing =
    [
        "Add", "AddFirst", "AddLast", "AddOrUpdate", "AddRange", "Append", "Clear", "Dequeue", "Enqueue", "ExceptWith", "GetOrAdd", "Insert",
        "IntersectWith", "Pop", "Push", "Remove", "RemoveAll", "RemoveAt", "RemoveFirst", "RemoveLast", "RemoveRange", "RemoveWhere", "Reverse",
        "Sort", "SymmetricExceptWith", "TryAdd", "TryDequeue", "TryPop", "TryRemove", "TryTake", "TryUpdate", "UnionWith",
    ];

    internal static Fault? Of(ISymbol member, IOperation operation)
    {
        if (member.DeclaringSyntaxReferences.IsEmpty) return null;
        if (member.GetAttributes().Any(static each => each.AttributeClass?.Name == "ThreadStaticAttribute"))
            return new Fault("AMB108", operation.Syntax.GetLocation(), $"the [ThreadStatic] {Places.NameOf(member)}", Mend);
        if (IsFixed(member) && !IsChanged(operation)) return null;
        return new Fault(Rule, operation.Syntax.GetLocation(), $"the static {Places.NameOf(member)}, which can change,", Mend);
    }

    private static bool IsFixed(ISymbol member) =>
        member switch { IFieldSymbol field => field.IsReadOnly, IPropertySymbol property => property.SetMethod is null, _ => true };

    /// <summary>Tells whether what a read-only static refers to is changed here: a collection or an array.</summary>
    private static bool IsChanged(IOperation reference) => reference.Parent switch
    {
        IInvocationOperation call =>
            call.Instance == reference && Changing.Contains(call.TargetMethod.Name)
            && IsCollection(call.TargetMethod.ContainingType),
        IArrayElementReferenceOperation element => element.ArrayReference == reference && Access.Of(element).Writes,
        IPropertyReferenceOperation { Property.IsIndexer: true } indexer =>
            indexer.Instance == reference && Access.Of(indexer).Writes && IsCollection(indexer.Property.ContainingType),
        _ => false,
    };

    internal static bool IsCollection(INamedTypeSymbol type) =>
        Symbols.NamespaceOf(type) is var space
        && (space.StartsWith("System.Collections", System.StringComparison.Ordinal) || type.Name == "StringBuilder")
        && !space.EndsWith("Immutable", System.StringComparison.Ordinal);
}
