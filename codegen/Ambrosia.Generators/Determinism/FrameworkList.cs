using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>Asks the list of the framework's members about symbols. Any thread may ask.</summary>
internal static class FrameworkList
{
    /// <summary>Returns the verdict of a member; null where the list does not forbid it.</summary>
    internal static Verdict? Of(ISymbol member)
    {
        ISymbol definition = member.OriginalDefinition;
        if (definition.ContainingType is not { } type) return null;
        string space = NamespaceOf(type), name = definition.MetadataName;
        if (definition is not IMethodSymbol method) return FrameworkNames.Of($"{space}.{NameOf(type)}", name, null, null);
        if (method.AssociatedSymbol is { } property) name = property.MetadataName;
        return FrameworkNames.Of($"{space}.{NameOf(type)}", name, method.Parameters.Length,
            method.Parameters.Length > 0 ? method.Parameters[0].Type.Name : null);
    }

    private static string NameOf(INamedTypeSymbol type) => type.ContainingType is { } outer ? $"{NameOf(outer)}.{type.Name}" : type.Name;

    private static string NamespaceOf(INamedTypeSymbol type) =>
        type.ContainingNamespace is { IsGlobalNamespace: false } space ? space.ToDisplayString() : "";
}
