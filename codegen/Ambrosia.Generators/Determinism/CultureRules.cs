using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges texts that the culture of the process has a say in: how numbers and dates are written and read, and how texts are compared.
/// Whole numbers without a format are left alone.
/// </summary>
internal static class CultureRules
{
    private const string Rule = "AMB111", Mend = "the overload that is given CultureInfo.InvariantCulture",
        OrderMend = "StringComparer.Ordinal as the comparer", CompareMend = "the overload that is given StringComparison.Ordinal";

    private static readonly HashSet<string> s_formatted =
    [
        "Single", "Double", "Decimal", "Half", "BigInteger", "DateTime", "DateTimeOffset", "DateOnly", "TimeOnly",
    ];

    private static readonly HashSet<string> s_whole = ["SByte", "Byte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64",
        "Int128", "UInt128"];

    private static readonly HashSet<string> s_compared = ["Compare", "CompareTo", "StartsWith", "EndsWith", "IndexOf", "LastIndexOf"];

    private static readonly HashSet<string> s_sorting = ["Sort", "Order", "OrderBy", "OrderDescending", "OrderByDescending", "ThenBy",
        "ThenByDescending", "Max", "Min", "MaxBy", "MinBy", "BinarySearch", "Create", "CreateRange", "CreateBuilder",
        "ToImmutableSortedSet", "ToImmutableSortedDictionary"];

    /// <summary>The types whose methods of these names put elements in order.</summary>
    private static readonly HashSet<string> s_sorters = ["List", "Array", "Enumerable", "MemoryExtensions", "ImmutableList",
        "ImmutableArray", "ImmutableSortedSet", "ImmutableSortedDictionary"];

    private static readonly HashSet<string> s_sorted = ["SortedDictionary", "SortedSet", "SortedList", "PriorityQueue"];

    /// <summary>The calls that write what they are given into a text, and have an overload with a provider.</summary>
    private static readonly HashSet<string> s_writing = ["Append", "AppendLine", "AppendJoin", "AppendFormat", "Insert", "Concat", "Join"];

    /// <summary>The formats that are the same in every culture.</summary>
    private static readonly HashSet<string> s_fixedFormats = ["o", "O", "s", "u", "r", "R", "x", "X", "d", "D"];

    internal static Fault? Of(IInvocationOperation operation)
    {
        IMethodSymbol method = operation.TargetMethod;
        string type = method.ContainingType.Name;
        if (!IsOfSystem(method.ContainingType)) return null;
        if (method.ContainingType.SpecialType == SpecialType.System_String) return OfText(operation, method);
        if ((s_formatted.Contains(type) || s_whole.Contains(type))
            && method.Name is "Parse" or "TryParse" or "ParseExact" or "TryParseExact" or "ToString" or "TryFormat")
            return OfFormat(operation, method, s_whole.Contains(type), type is "DateTime" or "DateTimeOffset" or "DateOnly" or "TimeOnly");
        if (type == "Regex") return OfRegex(operation.Arguments, Places.Of(operation));
        if (type is "StringBuilder" or "Convert") return OfWriting(operation, method);
        if (type == "TimeSpan") return OfSpan(operation, method);
        return s_sorting.Contains(method.Name) && s_sorters.Contains(type) ? OfSort(operation, method) : null;
    }

    internal static Fault? Of(IFieldReferenceOperation operation) =>
        operation.Field is { Name: "Empty", ContainingType: { Name: "ImmutableSortedSet" or "ImmutableSortedDictionary" } type }
            && IsText(type.TypeArguments[0])
            && operation.Parent is not IInvocationOperation { TargetMethod.Name: "WithComparer" or "WithComparers" }
            ? new Fault(Rule, operation.Syntax.GetLocation(), $"an {type.Name} of texts in the order of the culture", OrderMend) : null;

    internal static Fault? Of(IPropertyReferenceOperation operation) =>
        operation.Property is { Name: "Default", ContainingType: { Name: "Comparer" } type } && IsOfSystem(type)
            && type.TypeArguments.Length == 1 && IsText(type.TypeArguments[0])
            ? new Fault(Rule, operation.Syntax.GetLocation(), "Comparer.Default of texts, in the order of the culture,", OrderMend)
            : null;

    internal static Fault? Of(IObjectCreationOperation operation)
    {
        if (operation.Type is INamedTypeSymbol { Name: "Regex" } regex && IsOfSystem(regex))
            return OfRegex(operation.Arguments, operation.Syntax.GetLocation());
        if (operation.Type is not INamedTypeSymbol type || !s_sorted.Contains(type.Name) || !IsOfSystem(type)) return null;
        ITypeSymbol key = type.Name == "PriorityQueue" ? type.TypeArguments[1] : type.TypeArguments[0];
        return IsText(key) && !HasComparer(operation.Arguments)
            ? new Fault(Rule, operation.Syntax.GetLocation(), $"a {type.Name} of texts in the order of the culture", OrderMend) : null;
    }

    internal static Fault? Of(IInterpolationOperation operation)
    {
        if (!IsFormatted(operation.Expression.Type)
            || (operation.FormatString?.ConstantValue.Value is string format && s_fixedFormats.Contains(format))) return null;
        for (IOperation? at = operation.Parent; at is not null; at = at.Parent)
        {
            if (at is IConversionOperation { Type.Name: "FormattableString" or "IFormattable" }) return null;
            if (at is IInvocationOperation call && (IsForPeople(call.TargetMethod) || HasProvider(call.Arguments))) return null;
            if (at is IBlockOperation or IAnonymousFunctionOperation) break;
        }
        return new Fault(Rule, operation.Syntax.GetLocation(),
            $"a {Places.NameOf(operation.Expression.Type!)} in a text in the form of the culture",
            "string.Create(CultureInfo.InvariantCulture, $\"…\")");
    }

    /// <summary>Judges a text that is put together with <c>+</c>.</summary>
    internal static Fault? Of(IBinaryOperation operation)
    {
        if (operation.OperatorKind != BinaryOperatorKind.Add || operation.Type?.SpecialType != SpecialType.System_String) return null;
        foreach (IOperation part in new[] { operation.LeftOperand, operation.RightOperand })
        {
            IOperation value = HandlerRules.Unconverted(part);
            if (IsFormatted(value.Type) && !value.ConstantValue.HasValue)
                return new Fault(Rule, value.Syntax.GetLocation(), $"a {Places.NameOf(value.Type!)} in a text in the form of the culture",
                    ".ToString(CultureInfo.InvariantCulture)");
        }
        return null;
    }

    private static Fault? OfText(IInvocationOperation operation, IMethodSymbol method)
    {
        string name = method.Name;
        if (name is "ToUpper" or "ToLower" && method.Parameters.Length == 0)
            return new Fault(Rule, Places.Of(operation), $"string.{name}()", $"{name}Invariant()");
        if (name == "Format" && method.Parameters[0].Type.SpecialType == SpecialType.System_String)
            return operation.Arguments.SelectMany(static each => each.Value.DescendantsAndSelf())
                .Any(static each => IsFormatted(HandlerRules.Unconverted(each).Type) && each is not ILiteralOperation)
                ? new Fault(Rule, Places.Of(operation), "string.Format", Mend) : null;
        if (s_writing.Contains(name)) return OfWriting(operation, method);
        if (!s_compared.Contains(name) || method.Parameters.Length == 0) return null;
        bool ofTexts = name is "CompareTo" || method.Parameters[0].Type.SpecialType == SpecialType.System_String;
        if (!ofTexts || method.Parameters.Any(static each => each.Type.Name is "StringComparison" or "CultureInfo")) return null;
        return new Fault(Rule, Places.Of(operation), $"string.{name} in the order of the culture",
            name is "Compare" or "CompareTo" ? "string.CompareOrdinal" : CompareMend);
    }

    private static Fault? OfFormat(IInvocationOperation operation, IMethodSymbol method, bool isWhole, bool isDate)
    {
        if (HasProvider(operation.Arguments)) return null;
        string? format = operation.Arguments.Where(static each => each.Parameter?.Name == "format")
            .Select(static each => each.Value.ConstantValue.Value as string).FirstOrDefault();
        if (isWhole && (format is null || !"nNcCpP".Contains(format.Substring(0, System.Math.Min(1, format.Length))) || format.Length == 0))
            return null;
        if (isDate && method.Name == "ToString" && format is not null && format.Length == 1 && "oOsurR".Contains(format)) return null;
        return new Fault(Rule, Places.Of(operation), $"{Places.NameOf(method)} in the form of the culture", Mend);
    }

    /// <summary>Judges what a builder, a conversion or a concatenation writes or reads by the culture.</summary>
    private static Fault? OfWriting(IInvocationOperation operation, IMethodSymbol method)
    {
        bool isConvert = method.ContainingType.Name == "Convert";
        if ((!isConvert && !s_writing.Contains(method.Name)) || HasProvider(operation.Arguments)) return null;
        bool reads = isConvert && method.Parameters[0].Type.SpecialType == SpecialType.System_String
            && method.Name is "ToSingle" or "ToDouble" or "ToDecimal" or "ToDateTime";
        bool writes = (!isConvert || method.Name == "ToString") && operation.Arguments.SelectMany(static each =>
            each.Value is IArrayCreationOperation { Initializer: { } all } ? all.ElementValues : [each.Value])
            .Any(static each => IsWritten(HandlerRules.Unconverted(each)));
        return reads || writes ? new Fault(Rule, Places.Of(operation), $"{Places.NameOf(method)} in the form of the culture", Mend) : null;
    }

    /// <summary>Tells whether a value, or each element of a sequence that is joined, is written by the culture.</summary>
    private static bool IsWritten(IOperation value) => !value.ConstantValue.HasValue && value.Type switch
    {
        IArrayTypeSymbol array => IsFormatted(array.ElementType),
        INamedTypeSymbol { TypeArguments.Length: 1 } sequence when sequence.AllInterfaces.Any(static each => each.Name == "IEnumerable")
            => IsFormatted(sequence.TypeArguments[0]),
        var type => IsFormatted(type),
    };

    private static Fault? OfSpan(IInvocationOperation operation, IMethodSymbol method)
    {
        if (HasProvider(operation.Arguments)) return null;
        string? format = operation.Arguments.Where(static each => each.Parameter?.Name == "format")
            .Select(static each => each.Value.ConstantValue.Value as string).FirstOrDefault();
        return method.Name is "ToString" or "TryFormat" && format is "g" or "G"
            ? new Fault(Rule, Places.Of(operation), $"{Places.NameOf(method)} in the form of the culture", Mend) : null;
    }

    /// <summary>Judges a pattern that ignores case as the culture of the process does.</summary>
    private static Fault? OfRegex(IEnumerable<IArgumentOperation> arguments, Location place)
    {
        const int ignoreCase = 1, cultureInvariant = 512;
        int options = arguments.Where(static each => each.Parameter?.Type.Name == "RegexOptions")
            .Select(static each => each.Value.ConstantValue.Value as int? ?? 0).FirstOrDefault();
        string pattern = arguments.Where(static each => each.Parameter?.Name == "pattern")
            .Select(static each => each.Value.ConstantValue.Value as string).FirstOrDefault() ?? "";
        bool ignores = (options & ignoreCase) != 0
            || Regex.IsMatch(pattern, @"\(\?[mnsx]*i", RegexOptions.CultureInvariant);
        return ignores && (options & cultureInvariant) == 0
            ? new Fault(Rule, place, "a Regex that ignores case as the culture does", "RegexOptions.CultureInvariant beside IgnoreCase")
            : null;
    }

    private static Fault? OfSort(IInvocationOperation operation, IMethodSymbol method)
    {
        if (HasComparer(operation.Arguments) || operation.Arguments.Any(static each => each.Parameter?.Type.TypeKind == TypeKind.Delegate
            && each.Parameter.Type.Name == "Comparison")) return null;
        if (method.ContainingType.Name is "ImmutableList" or "ImmutableArray" && method.Name is not ("Sort" or "BinarySearch")) return null;
        ITypeSymbol? sorted = method.ContainingType.TypeArguments.FirstOrDefault() ?? (method.Name is "Order" or "OrderDescending" or "Sort"
            or "BinarySearch" || method.ContainingType.Name.StartsWith("ImmutableSorted", System.StringComparison.Ordinal)
            ? method.TypeArguments.FirstOrDefault()
            : method.Name is "Max" or "Min" ? method.ReturnType : method.TypeArguments.LastOrDefault());
        return sorted is not null && IsText(sorted)
            ? new Fault(Rule, Places.Of(operation), $"{method.Name} of texts in the order of the culture", OrderMend) : null;
    }

    /// <summary>Tells whether a key is a text, or a tuple of which one part is.</summary>
    private static bool IsText(ITypeSymbol key) => key.SpecialType == SpecialType.System_String
        || (key is INamedTypeSymbol { IsTupleType: true } tuple && tuple.TupleElements.Any(static each => IsText(each.Type)));

    private static bool HasComparer(IEnumerable<IArgumentOperation> arguments) =>
        arguments.Any(static each => each.ArgumentKind != ArgumentKind.DefaultValue && each.Parameter?.Type.Name is "IComparer"
            or "Comparison"
            && each.Value is not ILiteralOperation { ConstantValue.Value: null });

    private static bool HasProvider(IEnumerable<IArgumentOperation> arguments) =>
        arguments.Any(static each => each.Parameter?.Type.Name is "IFormatProvider" or "CultureInfo"
            && each.ArgumentKind != ArgumentKind.DefaultValue && HandlerRules.Unconverted(
                each.Value).ConstantValue is not { HasValue: true, Value: null });

    /// <summary>Tells whether something stands among what is written for people's eyes alone.</summary>
    internal static bool IsForPeople(IOperation operation)
    {
        for (IOperation? at = operation; at is not null and not IBlockOperation; at = at.Parent)
            if (at is IInvocationOperation call && IsForPeople(call.TargetMethod)) return true;
        return false;
    }

    /// <summary>Tells whether what is written is for people's eyes alone: a log line, or the console.</summary>
    internal static bool IsForPeople(IMethodSymbol method) => method.ContainingType.Name is "ImmortalLogger" or "Console" or "Debug";

    private static bool IsFormatted(ITypeSymbol? type) => type is INamedTypeSymbol named && IsOfSystem(named)
        && (s_formatted.Contains(named.Name)
            || (named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T && s_formatted.Contains(
                named.TypeArguments[0].Name)));

    private static bool IsOfSystem(INamedTypeSymbol type) =>
        Symbols.NamespaceOf(type).StartsWith("System", System.StringComparison.Ordinal);
}
