using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges hash codes that are asked for by name: those of texts, of types and of what is made of them have another seed in each process.
/// Tuples mix their members with a seed, and the compiler's code for a record that is a class begins with its type.
/// </summary>
internal static class HashCodeRules
{
    private const string Rule = "AMB110", Mend = "a number that is made of the values themselves";

    /// <summary>The types whose hash codes are made of their bits alone.</summary>
    private static readonly HashSet<string> s_steady =
    [
        "Boolean", "Char", "SByte", "Byte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Single", "Double", "Decimal", "Half",
        "DateTime", "DateTimeOffset", "DateOnly", "TimeOnly", "TimeSpan", "Guid", "Rune", "Index", "Version", "Enum", "IntPtr", "UIntPtr",
    ];

    internal static Fault? Of(IInvocationOperation operation) =>
        operation.TargetMethod is { Name: "GetHashCode", Parameters.Length: 0, IsStatic: false }
            && FrameworkList.Of(operation.TargetMethod) is null
            && operation.Instance?.Type is { } type && !IsSteady(type, [])
            ? new Fault(Rule, Places.Of(operation), $"the hash code of a {Places.NameOf(type)}", Mend) : null;

    private static bool IsSteady(ITypeSymbol type, HashSet<ITypeSymbol> seen)
    {
        if (type.TypeKind == TypeKind.Enum || !seen.Add(type)) return true;
        if (type is not INamedTypeSymbol named) return false;
        if (named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T) return IsSteady(named.TypeArguments[0], seen);
        if (named.DeclaringSyntaxReferences.IsEmpty || named.IsTupleType || named.IsAnonymousType)
            return !named.IsTupleType && s_steady.Contains(named.Name)
                && Symbols.NamespaceOf(named).StartsWith("System", System.StringComparison.Ordinal);
        if (IsWritten(named)) return true; // its body is followed
        return named is { IsRecord: true, IsValueType: true }
            && named.GetMembers().OfType<IFieldSymbol>().Where(static each => !each.IsStatic).All(each => IsSteady(each.Type, seen));
    }

    /// <summary>Tells whether a class of the app, or one that it inherits from, has code of its own for this.</summary>
    private static bool IsWritten(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.BaseType)
            if (at.GetMembers("GetHashCode").Any(static each => !each.IsImplicitlyDeclared)) return !at.DeclaringSyntaxReferences.IsEmpty;
        return false;
    }
}
