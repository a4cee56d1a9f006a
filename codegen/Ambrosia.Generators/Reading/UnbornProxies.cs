using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators;

/// <summary>
/// Proxies of contracts of this compilation do not exist while the generator runs: a field's type that is made of one is
/// named here as it will be.
/// </summary>
internal static class UnbornProxies
{
    private const string Suffix = "Proxy";

    /// <summary>The type's name, from <c>global::</c> on; null: it is made of something that does not exist and is no proxy.</summary>
    internal static string? NameOf(ITypeSymbol type, ISymbol at, Compilation compilation)
    {
        string name = Symbols.PlainName(type);
        var unborn = new HashSet<string>();
        Collect(type, unborn);
        foreach (string each in unborn)
        {
            if (!each.EndsWith(Suffix, System.StringComparison.Ordinal) || at.DeclaringSyntaxReferences.FirstOrDefault() is not { } place)
                return null;
            string contract = each.Substring(0, each.Length - Suffix.Length);
            ISymbol? found = compilation.GetSemanticModel(place.SyntaxTree).LookupNamespacesAndTypes(place.Span.Start, name: contract)
                .FirstOrDefault();
            if (found is not INamedTypeSymbol { TypeKind: TypeKind.Interface, ContainingType: null } known) return null;
            string space = Symbols.NamespaceOf(known);
            name = Regex.Replace(name, $@"(?<![\w.:@]){Regex.Escape(each)}(?!\w)\??",
                space.Length == 0 ? $"global::{each}" : $"global::{space}.{each}");
        }
        return name;
    }

    private static void Collect(ITypeSymbol type, ISet<string> into)
    {
        if (type is IArrayTypeSymbol array) Collect(array.ElementType, into);
        if (type.TypeKind == TypeKind.Error) into.Add(type.Name);
        else if (type is INamedTypeSymbol named)
            foreach (ITypeSymbol argument in named.TypeArguments) Collect(argument, into);
    }
}
