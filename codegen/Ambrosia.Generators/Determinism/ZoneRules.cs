using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges conversions of times that read the zone of the machine on their way: a text with an offset becomes a local time, and a time
/// without an offset becomes one of the machine's zone. The list of the framework names the members that do so whatever they are given.
/// </summary>
internal static class ZoneRules
{
    private const string Rule = "AMB101", ParseMend = "DateTimeStyles.AdjustToUniversal, without AssumeLocal",
        OffsetParseMend = "DateTimeStyles.AssumeUniversal", OffsetMend = "new DateTimeOffset(…, TimeSpan.Zero)",
        FormatMend = "a DateTimeOffset, which has its offset with it", JsonMend = "a text, and DateTimeOffset.Parse with AssumeUniversal",
        KindMend = "DateTimeKind.Utc";

    private const int AdjustToUniversal = 0x10, AssumeLocal = 0x20, AssumeUniversal = 0x40, KindUtc = 1, KindLocal = 2;

    private static readonly HashSet<string> s_jsonReads = ["GetDateTime", "TryGetDateTime", "GetDateTimeOffset", "TryGetDateTimeOffset"];

    private static readonly Regex s_quoted = new(@"\\.|'[^']*'|""[^""]*""", RegexOptions.CultureInvariant);

    /// <summary>A part of a composite format that writes an offset.</summary>
    private static readonly Regex s_composite = new(@"\{(?<index>\d+)(,[^:}]*)?:(?<format>[^}]*)\}", RegexOptions.CultureInvariant);

    internal static Fault? Of(IInvocationOperation operation)
    {
        IMethodSymbol method = operation.TargetMethod;
        return method.ContainingType.Name switch
        {
            "DateTime" or "DateTimeOffset" => OfTime(operation, method),
            "JsonSerializer" when method.Name.StartsWith("Deserialize", System.StringComparison.Ordinal) =>
                method.TypeArguments.FirstOrDefault() is { } read && HasTime(read, [])
                    ? new Fault(Rule, Places.Of(operation), $"{Places.NameOf(method)} of a time by the zone of the machine", JsonMend)
                    : null,
            "JsonElement" or "Utf8JsonReader" when s_jsonReads.Contains(method.Name) =>
                new Fault(Rule, Places.Of(operation), $"{Places.NameOf(method)} by the zone of the machine", JsonMend),
            "String" when method.Name == "Format" => OfComposite(operation),
            _ when method.Name == "AppendFormatted" =>
                operation.Arguments.Any(static each => IsTime(HandlerRules.Unconverted(each.Value).Type))
                && WritesZone(TextsOf(operation, "format").FirstOrDefault()) ? OfFormat(operation.Syntax.GetLocation()) : null,
            _ => null,
        };
    }

    internal static Fault? Of(IObjectCreationOperation operation) => operation.Type?.Name switch
    {
        "DateTimeOffset" when operation.Arguments.Length == 1 && IsTime(operation.Arguments[0].Value.Type)
            && !IsUtc(operation.Arguments[0].Value) =>
            new Fault(Rule, operation.Syntax.GetLocation(), "a DateTimeOffset with the offset of the machine's zone", OffsetMend),
        "DateTime" when operation.Arguments.Any(static each => IsKind(each.Value, KindLocal)) => OfLocal(operation),
        _ => null,
    };

    internal static Fault? Of(IConversionOperation operation) =>
        operation.OperatorMethod is { ContainingType.Name: "DateTimeOffset" } && IsTime(operation.Operand.Type) && !IsUtc(operation.Operand)
            ? new Fault(Rule, operation.Syntax.GetLocation(), "a DateTime that becomes a DateTimeOffset by the machine's zone", OffsetMend)
            : null;

    internal static Fault? Of(IInterpolationOperation operation) =>
        IsTime(operation.Expression.Type) && WritesZone(operation.FormatString?.ConstantValue.Value as string)
            ? OfFormat(operation.Syntax.GetLocation()) : null;

    private static Fault? OfTime(IInvocationOperation operation, IMethodSymbol method)
    {
        bool isOffset = method.ContainingType.Name == "DateTimeOffset";
        switch (method.Name)
        {
            case "Parse" or "TryParse" or "ParseExact" or "TryParseExact":
                return ReadsZone(operation, isOffset) ? new Fault(Rule, Places.Of(operation),
                    $"{Places.NameOf(method)} by the zone of the machine", isOffset ? OffsetParseMend : ParseMend) : null;
            case "ToString" or "TryFormat" when !isOffset:
                return WritesZone(TextsOf(operation, "format").FirstOrDefault()) ? OfFormat(Places.Of(operation)) : null;
            case "FromBinary":
                return new Fault(Rule, Places.Of(operation), "DateTime.FromBinary, which may hold a local time,",
                    "new DateTime(ticks, DateTimeKind.Utc)");
            case "SpecifyKind":
                return operation.Arguments.Any(static each => IsKind(each.Value, KindLocal)) ? OfLocal(operation) : null;
            default:
                return null;
        }
    }

    /// <summary>Tells whether what is read depends on the zone, by the styles, and by whether exact formats have an offset.</summary>
    private static bool ReadsZone(IInvocationOperation operation, bool isOffset)
    {
        int? styles = operation.Arguments.Where(static each => each.Parameter?.Type.Name == "DateTimeStyles")
            .Select(static each => each.Value.ConstantValue.Value as int? ?? 0).Cast<int?>().FirstOrDefault();
        int given = styles ?? 0;
        bool isExact = operation.TargetMethod.Name.EndsWith("Exact", System.StringComparison.Ordinal);
        string?[] formats = isExact ? [.. TextsOf(operation, "format"), .. TextsOf(operation, "formats")] : [];
        if (isOffset)
            return (given & AssumeUniversal) == 0
                && !(formats.Length > 0 && formats.All(static each => each is "r" or "R" or "u" || WritesZone(each)));
        if ((given & (AdjustToUniversal | AssumeLocal)) == AdjustToUniversal) return false;
        return (given & (AssumeLocal | AssumeUniversal)) != 0
            || formats.Length == 0 || !formats.All(static each => each is not null && !ReadsOffset(each));
    }

    private static bool ReadsOffset(string format) => format.Length == 1 ? !"dDfFgGmMstTyY".Contains(format)
        : s_quoted.Replace(format, "") is var plain && (plain.Contains("z") || plain.Contains("K"));

    /// <summary>Tells whether a DateTime is written with the zone: its offset, or as a time of the whole world.</summary>
    private static bool WritesZone(string? format) =>
        format is "U" || (format is { Length: > 1 } && s_quoted.Replace(format, "").Contains("z"));

    /// <summary>Returns the texts that an argument is made of; null for those that are not known here.</summary>
    private static IEnumerable<string?> TextsOf(IInvocationOperation operation, string name)
    {
        IOperation? value = operation.Arguments.FirstOrDefault(each => each.Parameter?.Name == name)?.Value;
        if (value is null || value is IDefaultValueOperation) return [];
        value = HandlerRules.Unconverted(value);
        return value switch
        {
            IArrayCreationOperation { Initializer: { } all } => all.ElementValues.Select(static each => each.ConstantValue.Value as string),
            ICollectionExpressionOperation all => all.Elements.Select(static each => each.ConstantValue.Value as string),
            IConversionOperation { Operand: var text } => [text.ConstantValue.Value as string],
            _ => [value.ConstantValue.Value as string],
        };
    }

    private static Fault? OfComposite(IInvocationOperation operation)
    {
        if (TextsOf(operation, "format").FirstOrDefault() is not { } format) return null;
        IOperation[] values = [.. operation.Arguments
            .Where(static each => each.Parameter?.Name.StartsWith("arg", System.StringComparison.Ordinal) == true)
            .SelectMany(static each => each.Value is IArrayCreationOperation { Initializer: { } all } ? all.ElementValues : [each.Value])];
        foreach (Match part in s_composite.Matches(format))
            if (int.TryParse(part.Groups["index"].Value, out int index) && index < values.Length
                && IsTime(HandlerRules.Unconverted(values[index]).Type) && WritesZone(part.Groups["format"].Value))
                return OfFormat(Places.Of(operation));
        return null;
    }

    /// <summary>Tells whether a time is of UTC, as far as the expression says.</summary>
    private static bool IsUtc(IOperation operation)
    {
        operation = HandlerRules.Unconverted(operation);
        return operation switch
        {
            IPropertyReferenceOperation { Property.Name: "UtcDateTime" or "UtcNow" } => true,
            IPropertyReferenceOperation { Property.Name: "Date", Instance: { } of } => IsUtc(of),
            IFieldReferenceOperation { Field.Name: "UnixEpoch" } => true,
            IInvocationOperation { TargetMethod.Name: "ToUniversalTime" } => true,
            IInvocationOperation { TargetMethod: { Name: "SpecifyKind", ContainingType.Name: "DateTime" } } call =>
                call.Arguments.Any(static each => IsKind(each.Value, KindUtc)),
            IInvocationOperation { TargetMethod: { ContainingType.Name: "DateTime" } method, Instance: { } of } =>
                (method.Name.StartsWith("Add", System.StringComparison.Ordinal) || method.Name == "Subtract") && IsUtc(of),
            IObjectCreationOperation { Type.Name: "DateTime" } made => made.Arguments.Any(static each => IsKind(each.Value, KindUtc)),
            IBinaryOperation { LeftOperand: var left } => IsUtc(left),
            IConditionalOperation { WhenTrue: var one, WhenFalse: { } other } => IsUtc(one) && IsUtc(other),
            ILocalReferenceOperation local => InitializerOf(local) is { } initializer && IsUtc(initializer),
            _ => false,
        };
    }

    private static IOperation? InitializerOf(ILocalReferenceOperation local)
    {
        IOperation root = local;
        while (root.Parent is { } parent) root = parent;
        return root.Descendants().OfType<IVariableDeclaratorOperation>()
            .FirstOrDefault(each => SymbolEqualityComparer.Default.Equals(each.Symbol, local.Local))?.Initializer?.Value;
    }

    /// <summary>Tells whether a type that is read has a time in it: itself, a member, or what it is made of.</summary>
    private static bool HasTime(ITypeSymbol type, HashSet<ITypeSymbol> seen)
    {
        if (type is IArrayTypeSymbol array) return HasTime(array.ElementType, seen);
        if (type is not INamedTypeSymbol named || !seen.Add(type)) return false;
        if (IsTime(type) || (type.Name == "DateTimeOffset" && Roslyn.Symbols.NamespaceOf(type) == "System")) return true;
        if (named.TypeArguments.Any(each => HasTime(each, seen))) return true;
        return !type.DeclaringSyntaxReferences.IsEmpty && type.GetMembers().Any(member => !member.IsStatic && member switch
        {
            IFieldSymbol field => HasTime(field.Type, seen),
            IPropertySymbol property => HasTime(property.Type, seen),
            _ => false,
        });
    }

    private static bool IsTime(ITypeSymbol? type) => type?.SpecialType == SpecialType.System_DateTime;

    private static bool IsKind(IOperation value, int kind) => value.Type?.Name == "DateTimeKind" && value.ConstantValue.Value is int given
        && given == kind;

    private static Fault OfFormat(Location place) => new(Rule, place, "a DateTime in a text with the machine's offset", FormatMend);

    private static Fault OfLocal(IOperation operation) =>
        new(Rule, Places.Of(operation), "a DateTime of the machine's zone", KindMend);
}
