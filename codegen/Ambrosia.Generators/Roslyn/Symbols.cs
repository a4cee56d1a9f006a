using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.Roslyn;

/// <summary>Answers the questions about symbols that several readers ask. Names are written as generated code needs them.</summary>
internal static class Symbols
{
    internal const string Namespace = "Ambrosia";

    private static readonly SymbolDisplayFormat s_full = SymbolDisplayFormat.FullyQualifiedFormat
        .AddMiscellaneousOptions(
            SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier
            | SymbolDisplayMiscellaneousOptions.EscapeKeywordIdentifiers);

    private static readonly SymbolDisplayFormat s_plain = SymbolDisplayFormat.FullyQualifiedFormat.AddMiscellaneousOptions(
        SymbolDisplayMiscellaneousOptions.EscapeKeywordIdentifiers);

    /// <summary>The names of types and namespaces, which are asked for again and again.</summary>
    private static readonly ConditionalWeakTable<ISymbol, string> s_names = new();

    /// <summary>Returns a type's name from <c>global::</c> on, with its nullable annotations.</summary>
    internal static string FullName(ITypeSymbol type) => type.ToDisplayString(s_full);

    /// <summary>Returns a type's name from <c>global::</c> on, without nullable annotations.</summary>
    internal static string PlainName(ITypeSymbol type) => type.ToDisplayString(s_plain);

    /// <summary>
    /// Returns a type's name as the manifest has it, with its namespace: the same for <c>T</c> and <c>T?</c>, since readers look it up.
    /// </summary>
    internal static string DisplayName(ITypeSymbol type) => type.WithNullableAnnotation(NullableAnnotation.None).ToDisplayString();

    /// <summary>Returns the namespace of a symbol; the empty text is the global one.</summary>
    internal static string NamespaceOf(ISymbol symbol) =>
        symbol.ContainingNamespace is { IsGlobalNamespace: false } space
            ? s_names.GetValue(space, static each => each.ToDisplayString()) : "";

    /// <summary>Tells whether a type is the one of this name in the namespace Ambrosia.</summary>
    internal static bool IsOurs(ITypeSymbol? type, string name, int arity = 0) =>
        type is INamedTypeSymbol named && named.Name == name && named.Arity == arity
        && named.ContainingNamespace is { Name: Namespace, ContainingNamespace.IsGlobalNamespace: true };

    /// <summary>Tells whether a property has a field that the compiler made.</summary>
    internal static bool IsAutomatic(IPropertySymbol property) =>
        property.ContainingType.GetMembers().OfType<IFieldSymbol>()
            .Any(field => SymbolEqualityComparer.Default.Equals(field.AssociatedSymbol, property));

    /// <summary>Tells whether an assembly is of the framework, by its name as the binding does.</summary>
    internal static bool IsOfFramework(IAssemblySymbol? assembly) =>
        assembly?.Name is { } name && (name is "System" or "mscorlib" or "netstandard"
            || name.StartsWith("System.", StringComparison.Ordinal) || name.StartsWith("Microsoft.", StringComparison.Ordinal));

    /// <summary>Returns the attribute of this name in the namespace Ambrosia, or null.</summary>
    internal static AttributeData? Attribute(ISymbol symbol, string name) =>
        symbol.GetAttributes().FirstOrDefault(attribute => IsOurs(attribute.AttributeClass, name));

    /// <summary>Tells whether a type is made of one of the named definitions.</summary>
    internal static bool IsIn(ITypeSymbol type, params string[] names)
    {
        string full = s_names.GetValue(type.OriginalDefinition, static each => each.ToDisplayString());
        return names.Contains(full);
    }

    /// <summary>Returns <c>public</c> or <c>internal</c>: how far a type can be seen, with the types around it.</summary>
    internal static string AccessOf(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.ContainingType)
            if (at.DeclaredAccessibility != Accessibility.Public) return "internal";
        return "public";
    }

    /// <summary>Returns a name as code writes it: with @ where it is a keyword.</summary>
    internal static string Identifier(string name) =>
        Microsoft.CodeAnalysis.CSharp.SyntaxFacts.GetKeywordKind(name) != Microsoft.CodeAnalysis.CSharp.SyntaxKind.None ? "@" + name : name;

    /// <summary>Returns the type parameters of a type as C# declares them, <c>&lt;T&gt;</c>; empty where it has none.</summary>
    internal static string ParametersOf(INamedTypeSymbol type) =>
        type.Arity == 0 ? "" : $"<{string.Join(", ", type.TypeParameters.Select(static each => Identifier(each.Name)))}>";

    /// <summary>Returns the constraints of a type's parameters as C# writes them behind a declaration.</summary>
    /// <param name="isAnnotated">True where nullable annotations are in force.</param>
    internal static string ConstraintsOf(INamedTypeSymbol type, bool isAnnotated) => string.Concat(type.TypeParameters.Select(parameter =>
    {
        var parts = new List<string>();
        if (parameter.HasUnmanagedTypeConstraint) parts.Add("unmanaged");
        else if (parameter.HasValueTypeConstraint) parts.Add("struct");
        else if (parameter.HasReferenceTypeConstraint)
            parts.Add(
                isAnnotated && parameter.ReferenceTypeConstraintNullableAnnotation == NullableAnnotation.Annotated ? "class?" : "class");
        else if (parameter.HasNotNullConstraint) parts.Add("notnull");
        parts.AddRange(parameter.ConstraintTypes.Select(each => isAnnotated ? FullName(each) : PlainName(each)));
        if (parameter.HasConstructorConstraint) parts.Add("new()");
        return parts.Count == 0 ? "" : $" where {Identifier(parameter.Name)} : {string.Join(", ", parts)}";
    }));

    /// <summary>
    /// Returns the declarations of the types around a type as C# writes them, outermost first: <c>partial class Outer</c>.
    /// </summary>
    internal static List<string> ContainingDeclarations(INamedTypeSymbol type)
    {
        var around = new List<string>();
        for (INamedTypeSymbol? at = type.ContainingType; at is not null; at = at.ContainingType)
            around.Insert(0, $"partial {Keyword(at)} {Identifier(at.Name)}");
        return around;
    }

    /// <summary>Returns the keyword that declares a type.</summary>
    internal static string Keyword(INamedTypeSymbol type) => type switch
    {
        { TypeKind: TypeKind.Interface } => "interface",
        { TypeKind: TypeKind.Struct, IsRecord: true } => "record struct",
        { TypeKind: TypeKind.Struct } => "struct",
        { IsRecord: true } => "record",
        _ => "class",
    };
}

/// <summary>Writes the default values of parameters as C#.</summary>
internal static class DefaultValues
{
    /// <summary>Returns the default value of a parameter, or null where it has none.</summary>
    internal static string? Of(IParameterSymbol parameter)
    {
        if (!parameter.HasExplicitDefaultValue) return null;
        object? value = parameter.ExplicitDefaultValue;
        bool isNullNotAllowed = parameter.Type is { IsReferenceType: true, NullableAnnotation: NullableAnnotation.NotAnnotated };
        if (value is null) return isNullNotAllowed ? "default!" : "default";
        string literal = value is char or string or bool
            ? SymbolDisplay.FormatPrimitive(value, quoteStrings: true, useHexadecimalNumbers: false)!
            : LiteralOf(value);
        ITypeSymbol type = parameter.Type is INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } nullable
            ? nullable.TypeArguments[0] : parameter.Type;
        return type.TypeKind == TypeKind.Enum ? $"({Symbols.FullName(type)})({literal})" : literal;
    }

    private static string LiteralOf(object number) => number switch
    {
        float.NaN => "float.NaN",
        float.PositiveInfinity => "float.PositiveInfinity",
        float.NegativeInfinity => "float.NegativeInfinity",
        double.NaN => "double.NaN",
        double.PositiveInfinity => "double.PositiveInfinity",
        double.NegativeInfinity => "double.NegativeInfinity",
        float value => value.ToString("R", System.Globalization.CultureInfo.InvariantCulture) + "F",
        double value => value.ToString("R", System.Globalization.CultureInfo.InvariantCulture) + "D",
        decimal value => value.ToString(System.Globalization.CultureInfo.InvariantCulture) + "M",
        _ => SymbolDisplay.FormatPrimitive(number, quoteStrings: false, useHexadecimalNumbers: false)!,
    };
}
