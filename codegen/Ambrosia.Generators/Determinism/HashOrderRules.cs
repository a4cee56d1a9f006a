using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges enumerations in the order of hash codes, which differs between processes, and in the order in which the runtime lists members.
/// List-like collections have their own order, and so have Dictionary and HashSet: checkpoints keep it (docs/guarantees.md). The others are
/// fine where only their count or a key is asked for. One object for each body: it knows which locals have such a collection.
/// </summary>
internal sealed class HashOrderRules
{
    private const string Rule = "AMB109",
        Mend = "a SortedDictionary or SortedSet, or a Dictionary, whose order checkpoints keep; or order it: .OrderBy(…)";

    private static readonly string[] s_unordered =
    [
        "System.Collections.Hashtable", "System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue>",
        "System.Collections.Concurrent.ConcurrentBag<T>", "System.Collections.Immutable.ImmutableDictionary<TKey, TValue>",
        "System.Collections.Immutable.ImmutableDictionary<TKey, TValue>.Builder",
        "System.Collections.Immutable.ImmutableHashSet<T>.Builder",
        "System.Collections.Immutable.ImmutableHashSet<T>", "System.Collections.Frozen.FrozenDictionary<TKey, TValue>",
        "System.Collections.Frozen.FrozenSet<T>", "System.Collections.Specialized.StringDictionary",
        "System.Collections.Specialized.HybridDictionary",
    ];

    /// <summary>The types, and the static classes that make them, which have no order of what they are given.</summary>
    private static readonly HashSet<string> s_indifferentTypes =
    [
        "Hashtable", "ConcurrentDictionary", "ConcurrentBag", "ImmutableDictionary", "ImmutableHashSet", "FrozenDictionary", "FrozenSet",
        "SortedDictionary", "SortedSet", "SortedList", "ImmutableSortedDictionary", "ImmutableSortedSet", "ReadOnlyDictionary", "Builder",
    ];

    private static readonly HashSet<string> s_indifferent =
    [
        "SetEquals", "IsSubsetOf", "IsProperSubsetOf", "IsSupersetOf", "IsProperSupersetOf", "Overlaps", "ExceptWith", "IntersectWith",
        "ThrowIfNull", "ReferenceEquals", "Equals",
    ];

    /// <summary>The second sequences of LINQ whose order does not matter.</summary>
    private static readonly HashSet<string> s_indifferentSeconds = ["Except", "ExceptBy", "Intersect", "IntersectBy"];

    private static readonly HashSet<string> s_listings =
    [
        "GetMembers", "GetMember", "GetMethods", "GetProperties", "GetFields", "GetEvents", "GetConstructors", "GetInterfaces",
        "GetNestedTypes", "GetTypes", "GetExportedTypes", "GetForwardedTypes", "GetReferencedAssemblies", "GetRuntimeMethods",
        "GetRuntimeProperties", "GetRuntimeFields", "GetRuntimeEvents",
    ];

    private readonly HashSet<ISymbol> _locals = new(SymbolEqualityComparer.Default);

    /// <summary>Notes what a local is given.</summary>
    internal void Note(ILocalSymbol local, IOperation value)
    {
        if (IsUnordered(value)) _locals.Add(local);
    }

    internal Fault? Of(IForEachLoopOperation operation) => OfCollection(operation.Collection);

    internal Fault? Of(ISpreadOperation operation) =>
        operation.Parent is ICollectionExpressionOperation { Type.Name: { } made } && s_indifferentTypes.Contains(made)
            ? null : OfCollection(operation.Operand);

    /// <summary>Judges a call of LINQ that enumerates its first argument, and one of reflection that lists members.</summary>
    internal Fault? Of(IInvocationOperation operation)
    {
        if (IsListing(operation) && !IsConsumedInAnyOrder(operation))
            return new Fault(Rule, Places.Of(operation), $"the order of {Places.NameOf(operation.TargetMethod)}",
                "names that are written down; or order them: .OrderBy(…)");
        if (!IsOfLinq(operation) || operation.Arguments.Length == 0 || IsConsumedInAnyOrder(operation, operation.TargetMethod)) return null;
        return OfCollection(operation.Arguments[0].Value);
    }

    /// <summary>Judges what a method or constructor is given that goes through it, or sends it.</summary>
    internal Fault? Of(IArgumentOperation operation)
    {
        IMethodSymbol? method = operation.Parent switch
        {
            IInvocationOperation call => call.TargetMethod,
            IObjectCreationOperation made => made.Constructor,
            _ => null,
        };
        if (method is null || operation.Parameter is not { } parameter || !IsUnordered(operation.Value)) return null;
        IOperation value = HandlerRules.Unconverted(operation.Value);
        bool isPart = IsPart(value), isOfFramework = method.DeclaringSyntaxReferences.IsEmpty;
        if (!isPart && !Enumerates(parameter.Type, isOfFramework)) return null;
        if (ImmortalTypes.IsSending(method) && !(isPart && TravelsAsItStands(Owner(value).Type))) return null;
        if (operation.Parent is IInvocationOperation linq && IsOfLinq(linq)
            && (linq.Arguments[0] == operation || s_indifferentSeconds.Contains(method.Name)
                || IsConsumedInAnyOrder(linq, method))) return null;
        if (IsIndifferent(method) || CultureRules.IsForPeople(operation)) return null;
        return OfCollection(operation.Value);
    }

    /// <summary>Judges a collection that is from here on a sequence of which the type no longer says that it has no order.</summary>
    internal Fault? Of(IConversionOperation operation) =>
        operation.OperatorMethod is null && operation.Parent is not (IArgumentOperation or IForEachLoopOperation or IConversionOperation
            or ISpreadOperation)
        && operation.Type is INamedTypeSymbol { TypeKind: TypeKind.Interface, Name: "IEnumerable" } && IsUnordered(operation.Operand)
            ? OfCollection(operation.Operand) : null;

    /// <summary>Judges an element that is taken by its place: the parts of frozen collections are arrays.</summary>
    internal Fault? Of(IPropertyReferenceOperation operation) =>
        operation is { Property: { IsIndexer: true, ContainingType.Name: "ImmutableArray" }, Instance: { } part }
            ? OfCollection(part) : null;

    private Fault? OfCollection(IOperation collection)
    {
        if (!IsUnordered(collection)) return null;
        collection = Owner(HandlerRules.Unconverted(collection));
        return new Fault(Rule, collection.Syntax.GetLocation(), $"the order of a {collection.Type!.Name}", Mend);
    }

    private bool IsUnordered(IOperation collection)
    {
        collection = Owner(HandlerRules.Unconverted(collection));
        if (collection is ILocalReferenceOperation local && _locals.Contains(local.Local)) return true;
        for (ITypeSymbol? type = collection.Type; type is not null; type = type.BaseType)
            if (Symbols.IsIn(type, s_unordered)) return true;
        return false;
    }

    private static IOperation Owner(IOperation collection) =>
        collection is IPropertyReferenceOperation { Instance: { } owner } && IsPart(collection)
            ? HandlerRules.Unconverted(owner) : collection;

    private static bool IsPart(IOperation value) => value is IPropertyReferenceOperation { Property.Name: "Keys" or "Values" or "Items" };

    /// <summary>
    /// Tells whether the keys and values of a collection travel in its order: they are arrays or lists. What shows that it has no order
    /// of its own travels in that of its values (contract.md C3.12).
    /// </summary>
    private static bool TravelsAsItStands(ITypeSymbol? type) => type?.Name is "FrozenDictionary" or "FrozenSet" or "ConcurrentDictionary";

    /// <summary>Tells whether a parameter of this type is gone through. Code of the app may look keys up in a map that it gets.</summary>
    private static bool Enumerates(ITypeSymbol type, bool isOfFramework) => type is { TypeKind: TypeKind.Interface }
        && Symbols.NamespaceOf(type).StartsWith("System.Collections", System.StringComparison.Ordinal)
        && (type.Name is "IEnumerable" or "ICollection" or "IReadOnlyCollection" or "IList" or "IReadOnlyList"
            || (isOfFramework && type.Name is "IDictionary"));

    private static bool IsIndifferent(IMethodSymbol method) => s_indifferent.Contains(method.Name)
        || (s_indifferentTypes.Contains(method.ContainingType.Name)
            && Symbols.NamespaceOf(method.ContainingType).StartsWith("System.", System.StringComparison.Ordinal));

    private static bool IsListing(IInvocationOperation operation) => s_listings.Contains(operation.TargetMethod.Name)
        && operation.TargetMethod.ContainingType is
            { Name: "Type" or "TypeInfo" or "Assembly" or "Module" or "RuntimeReflectionExtensions" } type
        && Symbols.NamespaceOf(type).StartsWith("System", System.StringComparison.Ordinal);

    private static bool IsOfLinq(IInvocationOperation operation) =>
        operation.TargetMethod is { IsExtensionMethod: true, ContainingType.Name: "Enumerable" };

    /// <summary>Tells whether what comes out of a call is counted, looked through or put in order.</summary>
    private static bool IsConsumedInAnyOrder(IOperation operation, IMethodSymbol? own = null)
    {
        if (own is not null && IsOrderless(own)) return true;
        for (IOperation? at = operation.Parent; at is not null; at = at.Parent)
        {
            switch (at)
            {
                case IInvocationOperation call when IsOfLinq(call):
                    if (IsOrderless(call.TargetMethod)) return true;
                    break;
                case IInvocationOperation call:
                    return IsIndifferent(call.TargetMethod);
                case IObjectCreationOperation { Constructor: { } constructor }:
                    return IsIndifferent(constructor);
                case IPropertyReferenceOperation { Property.Name: "Length" or "Count" }:
                    return true;
                case not (IArgumentOperation or IConversionOperation):
                    return false;
            }
        }
        return false;
    }

    /// <summary>Tells whether a result is the same in each order. A sum of fractions is not: each order rounds otherwise.</summary>
    private static bool IsOrderless(IMethodSymbol method) => method.Name is "Count" or "LongCount" or "Any" or "All" or "Contains"
        or "Order" or "OrderBy" or "OrderByDescending" or "OrderDescending" or "Min" or "Max"
        || (method.Name == "Sum" && method.ReturnType.ToDisplayString().TrimEnd('?') is not ("double" or "float"));
}
