using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Roslyn;

/// <summary>Knows the methods that keep the body which another method had in an earlier build: those marked [Formerly].</summary>
internal static class FormerBodies
{
    /// <summary>Returns the name of the method whose body a method keeps; null: it keeps none.</summary>
    internal static string? NameOf(IMethodSymbol method) =>
        Symbols.Attribute(method, "FormerlyAttribute") is { ConstructorArguments: { Length: 1 } arguments }
            ? arguments[0].Value as string : null;

    /// <summary>Returns the methods of a type that keep the body of another one, in the order of their declaration.</summary>
    internal static IEnumerable<IMethodSymbol> In(INamedTypeSymbol type) =>
        type.GetMembers().OfType<IMethodSymbol>().Where(static method => NameOf(method) is not null);

    /// <summary>
    /// Returns the methods of a name in the class of a kept body. One that implements an interface by name has that in front of its own.
    /// </summary>
    internal static IEnumerable<IMethodSymbol> Named(IMethodSymbol kept, string name) =>
        kept.ContainingType.GetMembers().OfType<IMethodSymbol>()
            .Where(method => method.Name == name || method.Name.EndsWith($".{name}", StringComparison.Ordinal));

    /// <summary>Tells whether two methods of a class differ in nothing but their names and bodies.</summary>
    internal static bool HaveOneSignature(IMethodSymbol one, IMethodSymbol other)
    {
        if (one.IsStatic != other.IsStatic || one.Arity != other.Arity || one.Parameters.Length != other.Parameters.Length) return false;
        if (one.Arity > 0) one = one.Construct([.. other.TypeParameters]); // which of the two has them makes no difference
        return AreOne(one.ReturnType, other.ReturnType)
            && one.Parameters.Zip(other.Parameters, static (a, b) => a.RefKind == b.RefKind && AreOne(a.Type, b.Type))
                .All(static same => same);
    }

    private static bool AreOne(ITypeSymbol one, ITypeSymbol other) => SymbolEqualityComparer.Default.Equals(one, other);
}
