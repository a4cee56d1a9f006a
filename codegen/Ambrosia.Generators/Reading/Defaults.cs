using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators;

/// <summary>The default values of parameters, as C# text; null: the parameter has none.</summary>
internal static class Defaults
{
    internal static string? Of(IParameterSymbol parameter)
    {
        if (!parameter.HasExplicitDefaultValue) return null;
        object? value = parameter.ExplicitDefaultValue;
        if (value is null) return "default";
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
