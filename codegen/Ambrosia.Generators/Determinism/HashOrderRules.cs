using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges enumerations in the order of hash codes, which differs between processes. List-like collections have their own order, and so have
/// Dictionary and HashSet: checkpoints keep it (docs/guarantees.md). The others are fine where only their count or a key is asked for.
/// </summary>
internal static class HashOrderRules
{
    private const string Rule = "AMB109",
        Mend = "a SortedDictionary or SortedSet, or a Dictionary, whose order checkpoints keep; or order it: .OrderBy(…)";

    private static readonly string[] s_unordered =
    [
        "System.Collections.Hashtable", "System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue>",
        "System.Collections.Concurrent.ConcurrentBag<T>", "System.Collections.Immutable.ImmutableDictionary<TKey, TValue>",
        "System.Collections.Immutable.ImmutableHashSet<T>", "System.Collections.Frozen.FrozenDictionary<TKey, TValue>",
        "System.Collections.Frozen.FrozenSet<T>",
    ];

    internal static Fault? Of(IForEachLoopOperation operation) => Of(operation.Collection);

    /// <summary>Judges a call of LINQ or of a constructor-like method that enumerates its first argument.</summary>
    internal static Fault? Of(IInvocationOperation operation)
    {
        if (operation.TargetMethod is not { IsExtensionMethod: true, ContainingType.Name: "Enumerable" }) return null;
        if (operation.Arguments.Length == 0) return null;
        for (IOperation? at = operation; at is not null; at = at.Parent)
        {
            if (at is IInvocationOperation { TargetMethod: { ContainingType.Name: "Enumerable" } next } && IsOrderless(
                next.Name)) return null;
            if (at is not (IInvocationOperation { TargetMethod.ContainingType.Name: "Enumerable" } or IArgumentOperation
                or IConversionOperation)) break;
        }
        return Of(operation.Arguments[0].Value);
    }

    private static Fault? Of(IOperation collection)
    {
        collection = HandlerRules.Unconverted(collection);
        if (collection is IPropertyReferenceOperation { Instance: { } owner, Property.Name: "Keys" or "Values" })
            collection = HandlerRules.Unconverted(owner);
        return collection.Type is { } type && Symbols.IsIn(type, s_unordered)
            ? new Fault(Rule, collection.Syntax.GetLocation(), $"the order of a {type.Name}", Mend) : null;
    }

    private static bool IsOrderless(string method) => method is "Count" or "LongCount" or "Any" or "All" or "Contains" or "Order"
        or "OrderBy"
        or "OrderByDescending" or "OrderDescending" or "Sum" or "Min" or "Max" or "ToHashSet" or "ToDictionary" or "AsEnumerable";
}
