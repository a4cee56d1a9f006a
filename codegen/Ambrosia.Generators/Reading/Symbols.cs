using System.Linq;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators;

/// <summary>Questions about symbols that several readers ask.</summary>
internal static class Symbols
{
    internal const string Namespace = "Ambrosia";

    private static readonly SymbolDisplayFormat s_full = SymbolDisplayFormat.FullyQualifiedFormat
        .AddMiscellaneousOptions(
            SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier
            | SymbolDisplayMiscellaneousOptions.EscapeKeywordIdentifiers);

    private static readonly SymbolDisplayFormat s_plain = SymbolDisplayFormat.FullyQualifiedFormat.AddMiscellaneousOptions(
        SymbolDisplayMiscellaneousOptions.EscapeKeywordIdentifiers);

    /// <summary>From <c>global::</c> on.</summary>
    internal static string FullName(ITypeSymbol type) => type.ToDisplayString(s_full);

    /// <summary>From <c>global::</c> on, without what is said of null.</summary>
    internal static string PlainName(ITypeSymbol type) => type.ToDisplayString(s_plain);

    internal static string NamespaceOf(ISymbol symbol) =>
        symbol.ContainingNamespace is { IsGlobalNamespace: false } space ? space.ToDisplayString() : "";

    internal static bool IsOurs(ITypeSymbol? type, string name, int arity = 0) =>
        type is INamedTypeSymbol named && named.Name == name && named.Arity == arity
        && named.ContainingNamespace is { Name: Namespace, ContainingNamespace.IsGlobalNamespace: true };

    internal static AttributeData? Attribute(ISymbol symbol, string name) =>
        symbol.GetAttributes().FirstOrDefault(attribute => IsOurs(attribute.AttributeClass, name));

    internal static bool IsIn(ITypeSymbol type, params string[] names)
    {
        string full = type.OriginalDefinition.ToDisplayString();
        return names.Contains(full);
    }

    /// <summary>public or internal: how far a type can be seen, those around it included.</summary>
    internal static string AccessOf(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.ContainingType)
            if (at.DeclaredAccessibility != Accessibility.Public) return "internal";
        return "public";
    }

    internal static string Identifier(string name) =>
        Microsoft.CodeAnalysis.CSharp.SyntaxFacts.GetKeywordKind(name) != Microsoft.CodeAnalysis.CSharp.SyntaxKind.None ? "@" + name : name;
}
