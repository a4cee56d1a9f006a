using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// Reads uses of generic types marked [Data]. Each use with other type arguments is a data type of its own, whose name holds the types of
/// its arguments as the manifest writes them (docs/contract.md C2.4). Its codec stands in every class that needs one, as that of a list
/// does: whoever declares the generic type does not know its uses, and two assemblies may have the same use.
/// </summary>
internal static class GenericData
{
    /// <summary>The number of uses of one generic type within each other, from which on it is taken to have no end.</summary>
    private const int DepthMax = 8;

    /// <summary>Tells whether a type is a use of a generic data type.</summary>
    internal static bool Is(INamedTypeSymbol type) => type.IsGenericType && Symbols.Attribute(type, "DataAttribute") is not null;

    /// <summary>Returns the model of a use, or null where its values cannot travel.</summary>
    internal static TypeModel? Read(INamedTypeSymbol type, string name, bool nullable, string mark, OpenUse? open)
    {
        var plain = (INamedTypeSymbol)type.WithNullableAnnotation(NullableAnnotation.NotAnnotated);
        if (IsEndless(plain, open) || SchemaNameOf(plain, open) is not { } schema) return null;
        var model = new TypeModel(Shape.Data, name, $"data<{schema}>{mark}", nullable, Symbols.FullName(plain),
            type.IsValueType ? "struct" : "", default) { IsGenericData = true };
        if (IsOpen(plain, open)) return model;
        return DataReader.Read(plain, CancellationToken.None, open).Model is { } data ? model with { Construction = data } : null;
    }

    /// <summary>
    /// Returns the name of a data type in the manifest; null where one of its type arguments cannot travel.
    /// </summary>
    internal static string? SchemaNameOf(INamedTypeSymbol type, OpenUse? open)
    {
        if (!type.IsGenericType) return Symbols.DisplayName(type);
        string name = Symbols.DisplayName(type.OriginalDefinition);
        string?[] arguments = [.. type.TypeArguments.Select(each => TypeReader.Read(each, open)?.Schema)];
        return arguments.Contains(null) ? null : $"{name.Substring(0, name.IndexOf('<'))}<{string.Join(",", arguments)}>";
    }

    /// <summary>Says why a use of generic data that a type names cannot travel; null where there is none, or it can.</summary>
    internal static string? FaultIn(ITypeSymbol type, OpenUse? open = null) => type switch
    {
        IArrayTypeSymbol array => FaultIn(array.ElementType, open),
        INamedTypeSymbol named => named.TypeArguments.Select(each => FaultIn(each, open)).FirstOrDefault(static fault => fault is not null)
            ?? (Is(named) && !IsOpen(named, open) ? WhyNot(named, open) : null),
        _ => null,
    };

    private static string? WhyNot(INamedTypeSymbol type, OpenUse? open)
    {
        string name = type.WithNullableAnnotation(NullableAnnotation.None).ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat);
        if (IsEndless(type, open)) return $"{type.Name} is made of itself with other type arguments, without an end";
        if (type.TypeArguments.FirstOrDefault(each => TypeReader.Read(each, open) is null) is { } argument)
            return $"{name} is given {argument.ToDisplayString()}, which cannot travel";
        return DataReader.Read(type, CancellationToken.None, open).Diagnostics.FirstOrDefault() is { } why
            ? $"{name}: {why.Arguments[1]}" : null;
    }

    private static bool IsOpen(INamedTypeSymbol type, OpenUse? open)
    {
        string name = Symbols.FullName(type);
        for (OpenUse? at = open; at is not null; at = at.Outer)
            if (Symbols.FullName(at.Type) == name) return true;
        return false;
    }

    private static bool IsEndless(INamedTypeSymbol type, OpenUse? open)
    {
        int same = 0;
        for (OpenUse? at = open; at is not null; at = at.Outer)
            if (SymbolEqualityComparer.Default.Equals(at.Type.OriginalDefinition, type.OriginalDefinition)) same++;
        return same >= DepthMax && !IsOpen(type, open);
    }
}

/// <summary>
/// It is a use of generic data whose members are being read. Where one stands within itself, the inner one has no model: the codec of the
/// outer one is its own.
/// </summary>
internal sealed class OpenUse(INamedTypeSymbol type, OpenUse? outer)
{
    internal INamedTypeSymbol Type { get; } = type;

    internal OpenUse? Outer { get; } = outer;
}

/// <summary>
/// It says how an init-only member of a generic type is set. The runtime finds a setter only by the type parameters with which it is
/// declared, so the accessor stands in a generic class of the same parameters.
/// </summary>
/// <param name="Parameters">The type parameters: <c>&lt;T&gt;</c>.</param>
/// <param name="Constraints">Their constraints, as C#.</param>
/// <param name="Arguments">The type arguments of this use: <c>&lt;int&gt;</c>.</param>
/// <param name="Declaring">The name of the declaring type with its parameters.</param>
/// <param name="Type">The name of the member's type as it is declared.</param>
internal sealed record GenericSetter(string Parameters, string Constraints, string Arguments, string Declaring, string Type)
{
    internal static GenericSetter? Of(ISymbol member)
    {
        INamedTypeSymbol type = member.ContainingType, definition = type.OriginalDefinition;
        if (!type.IsGenericType || member.OriginalDefinition is not IPropertySymbol { SetMethod.IsInitOnly: true } declared) return null;
        return new GenericSetter(Symbols.ParametersOf(definition), Symbols.ConstraintsOf(definition, isAnnotated: true),
            $"<{string.Join(", ", type.TypeArguments.Select(Symbols.FullName))}>", Symbols.FullName(definition),
            Symbols.FullName(declared.Type));
    }
}
