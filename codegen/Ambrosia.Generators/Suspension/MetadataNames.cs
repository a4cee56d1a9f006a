using System.Linq;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Suspension;

/// <summary>
/// Names methods as metadata does: <c>Namespace.Type.Method&lt;!!0&gt;(parameter types):return type</c>. The binding makes the same text of
/// the compiled assembly, so the two can be compared.
/// </summary>
internal static class MetadataNames
{
    internal static string Of(IMethodSymbol method)
    {
        string generic = method.Arity == 0 ? "" : $"<{string.Join(",", Enumerable.Range(0, method.Arity).Select(static i => $"!!{i}"))}>";
        string parameters = string.Join(",",
            method.Parameters.Select(static each => Of(each.Type) + (each.RefKind == RefKind.None ? "" : "&")));
        return $"{Definition(method.ContainingType)}.{method.MetadataName}{generic}({parameters}):{Of(method.ReturnType)}";
    }

    private static string Of(ITypeSymbol type) => type switch
    {
        IArrayTypeSymbol array => $"{Of(array.ElementType)}[{new string(',', array.Rank - 1)}]",
        IPointerTypeSymbol pointer => $"{Of(pointer.PointedAtType)}*",
        ITypeParameterSymbol { TypeParameterKind: TypeParameterKind.Method } parameter => $"!!{parameter.Ordinal}",
        ITypeParameterSymbol parameter => $"!{OuterArity(parameter.ContainingType) + parameter.Ordinal}",
        INamedTypeSymbol { IsTupleType: true, TupleUnderlyingType: { } tuple } => Of(tuple),
        INamedTypeSymbol named => OfNamed(named),
        _ => "System.Object",
    };

    private static string OfNamed(INamedTypeSymbol type)
    {
        ITypeSymbol[] arguments = [.. Containing(type).SelectMany(static each => each.TypeArguments)];
        return arguments.Length == 0 ? Definition(type) : $"{Definition(type)}<{string.Join(",", arguments.Select(Of))}>";
    }

    private static string Definition(INamedTypeSymbol type)
    {
        if (type.ContainingType is { } outer) return $"{Definition(outer)}+{type.MetadataName}";
        return type.ContainingNamespace.IsGlobalNamespace ? type.MetadataName
            : $"{Namespace(type.ContainingNamespace)}.{type.MetadataName}";
    }

    /// <summary>Returns a namespace without the @ of names that are keywords.</summary>
    private static string Namespace(INamespaceSymbol space) =>
        space.ContainingNamespace.IsGlobalNamespace ? space.MetadataName : $"{Namespace(space.ContainingNamespace)}.{space.MetadataName}";

    /// <summary>Returns the type and those around it, outermost first.</summary>
    private static System.Collections.Generic.IEnumerable<INamedTypeSymbol> Containing(INamedTypeSymbol type) =>
        type.ContainingType is { } outer ? Containing(outer).Append(type) : new[] { type };

    /// <summary>Returns how many type parameters the types around a nested type have: metadata counts its own behind these.</summary>
    private static int OuterArity(INamedTypeSymbol? type) =>
        type?.ContainingType is { } outer ? Containing(outer).Sum(static each => each.Arity) : 0;
}
