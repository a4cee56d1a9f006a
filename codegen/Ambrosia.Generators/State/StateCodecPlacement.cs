using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.State;

/// <summary>
/// Finds the place where a codec can name its type and the types of its fields. That is beside the type, or inside a partial class whose
/// private types it needs.
/// </summary>
internal static class StateCodecPlacement
{
    /// <summary>Looks for such a place.</summary>
    /// <param name="inside">The class in which the codec must stand, or null where it can stand in the namespace.</param>
    /// <returns>False where there is no such place.</returns>
    internal static bool Find(INamedTypeSymbol type, IEnumerable<ITypeSymbol> named, out INamedTypeSymbol? inside)
    {
        ITypeSymbol[] all = [type, .. named];
        inside = null;
        if (all.All(static each => IsSeenFrom(each, null))) return true;
        for (INamedTypeSymbol? at = type; at is not null; at = at.ContainingType)
        {
            if (at.IsGenericType || !IsPartial(at) || !IsSeenFrom(at, null) || !all.All(each => IsSeenFrom(each, at))) continue;
            inside = at;
            return true;
        }
        return false;
    }

    private static bool IsSeenFrom(ITypeSymbol type, INamedTypeSymbol? inside) => type switch
    {
        IArrayTypeSymbol array => IsSeenFrom(array.ElementType, inside),
        INamedTypeSymbol named =>
            named.TypeArguments.All(argument => IsSeenFrom(argument, inside)) && IsOpen(named, inside)
            && (named.ContainingType is null || IsSeenFrom(named.ContainingType, inside)),
        IPointerTypeSymbol or IFunctionPointerTypeSymbol => false,
        _ => true,
    };

    private static bool IsOpen(INamedTypeSymbol type, INamedTypeSymbol? inside)
    {
        if (type.TypeKind == TypeKind.Error) return true; // a proxy; UngeneratedProxies has refused everything else
        if (type.IsFileLocal) return false;
        if (type.DeclaredAccessibility is not (Accessibility.Private or Accessibility.Protected or Accessibility.ProtectedAndInternal))
            return true;
        for (INamedTypeSymbol? at = inside; at is not null; at = at.ContainingType)
            if (SymbolEqualityComparer.Default.Equals(at, type.ContainingType)) return true;
        return false;
    }

    private static bool IsPartial(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.ContainingType)
            if (at.DeclaringSyntaxReferences.Any(
                static each => each.GetSyntax() is not TypeDeclarationSyntax declaration
                    || !declaration.Modifiers.Any(SyntaxKind.PartialKeyword))) return false;
        return true;
    }
}
