using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// Reads unions: interfaces and classes that number their cases by [Case]. A value travels as its case's number and data (docs/contract.md
/// C3.11).
/// </summary>
internal static class UnionReader
{
    internal static bool IsUnion(INamedTypeSymbol type) => Symbols.Attribute(type, "CaseAttribute") is not null;

    /// <summary>Returns the model of a union, or null where one of its cases cannot travel.</summary>
    internal static TypeModel? Read(INamedTypeSymbol type, string name, bool nullable, string mark)
    {
        (long Number, INamedTypeSymbol? Type)[] cases = [.. CasesOf(type).OrderBy(static each => each.Number)];
        if (WhyNot(type, cases) is not null) return null;
        TypeModel[] data =
            [.. cases.Select(static each => TypeReader.Read(each.Type!.WithNullableAnnotation(NullableAnnotation.NotAnnotated))!)];
        IEnumerable<UnionCase> numbered = cases.Zip(data, static (each, model) => new UnionCase((uint)each.Number, model.Schema));
        return new TypeModel(Shape.Union, name, $"union<{Symbols.DisplayName(type)}>{mark}", nullable, "", "",
            new EquatableArray<TypeModel>(data.ToImmutableArray()))
        {
            Union = new UnionModel(Symbols.DisplayName(type), new EquatableArray<UnionCase>(numbered)),
        };
    }

    /// <summary>Says why a union that a type names cannot travel; null where there is none, or it can.</summary>
    internal static string? FaultIn(ITypeSymbol type) => type switch
    {
        IArrayTypeSymbol array => FaultIn(array.ElementType),
        INamedTypeSymbol named => named.TypeArguments.Select(FaultIn).FirstOrDefault(static fault => fault is not null)
            ?? (IsUnion(named) && WhyNot(named, [.. CasesOf(named)]) is { } why ? $"{Symbols.DisplayName(named)} {why}" : null),
        _ => null,
    };

    private static string? WhyNot(INamedTypeSymbol union, (long Number, INamedTypeSymbol? Type)[] cases)
    {
        if (union.IsGenericType) return "is generic: write one union for each use";
        if (cases.GroupBy(static each => each.Number).FirstOrDefault(static same => same.Count() > 1) is { } twice)
            return $"gives the number {twice.Key} to several cases";
        foreach ((long number, INamedTypeSymbol? type) in cases)
        {
            if (type is null || type.IsGenericType) return $"has a case {number} that is no class or struct, or is generic";
            if (number < 0) return $"numbers its case {type.Name} as {number}: a number is 0 or more";
            if (!DerivesFrom(type, union)) return $"has the case {type.Name}, which does not derive from it";
            if (Symbols.Attribute(type, "DataAttribute") is null) return $"has the case {type.Name}, which is not marked [Data]";
        }
        return null;
    }

    private static IEnumerable<(long Number, INamedTypeSymbol? Type)> CasesOf(INamedTypeSymbol union) =>
        union.GetAttributes()
            .Where(static each => Symbols.IsOurs(each.AttributeClass, "CaseAttribute") && each.ConstructorArguments.Length == 2)
            .Select(static each => (each.ConstructorArguments[0].Value is int number ? number : -1L,
                each.ConstructorArguments[1].Value as INamedTypeSymbol));

    private static bool DerivesFrom(INamedTypeSymbol type, INamedTypeSymbol union)
    {
        if (type.AllInterfaces.Contains(union, SymbolEqualityComparer.Default)) return true;
        for (INamedTypeSymbol? at = type.BaseType; at is not null; at = at.BaseType)
            if (SymbolEqualityComparer.Default.Equals(at, union)) return true;
        return false;
    }
}
