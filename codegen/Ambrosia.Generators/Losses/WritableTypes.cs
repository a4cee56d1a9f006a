using System;
using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Tells which types a checkpoint can hold, by the rules of the binding's ObjectShapes and Slots. A place whose values are of other classes
/// than it says (object, an interface, an open class of the app) is judged when it is written.
/// </summary>
internal static class WritableTypes
{
    private const string Unknown = "its state is the framework's and not known",
        Function = "a function can wait in a local of a method, since it belongs to one build; keep data that says what is to be done, or an object of your own with a method";

    private static readonly HashSet<string> s_values =
    [
        "System.DateTimeOffset", "System.TimeSpan", "System.DateOnly", "System.TimeOnly", "System.Guid", "System.Half", "System.Int128",
        "System.UInt128", "System.Numerics.BigInteger", "System.Collections.Generic.KeyValuePair",
        "System.Collections.Immutable.ImmutableArray",
        "System.Collections.Generic.List.Enumerator",
    ];

    private static readonly HashSet<string> s_classes =
    [
        "System.Tuple", "System.Collections.Generic.List", "System.Collections.Generic.Queue", "System.Collections.Generic.Stack",
        "System.Collections.Generic.LinkedList", "System.Collections.Generic.HashSet", "System.Collections.Generic.SortedSet",
        "System.Collections.Generic.Dictionary", "System.Collections.Generic.SortedDictionary", "System.Collections.Generic.SortedList",
        "System.Collections.Generic.PriorityQueue", "System.Collections.BitArray", "System.Text.StringBuilder", "System.Uri",
        "System.Version", "System.Collections.Immutable.ImmutableList", "System.Collections.Immutable.ImmutableQueue",
        "System.Collections.Immutable.ImmutableStack", "System.Collections.Immutable.ImmutableSortedSet",
        "System.Collections.Immutable.ImmutableHashSet", "System.Collections.Immutable.ImmutableSortedDictionary",
        "System.Collections.Immutable.ImmutableDictionary",
        "System.Random", "System.Delegate", "System.MulticastDelegate", "System.Enum", "System.ValueType", "System.Array",
    ];

    /// <summary>The interfaces behind which collections and values of the app stand.</summary>
    private static readonly HashSet<string> s_interfaces =
    [
        "IEnumerable", "ICollection", "IList", "IReadOnlyCollection", "IReadOnlyList", "IDictionary", "IReadOnlyDictionary", "ISet",
        "IReadOnlySet", "IImmutableList", "IImmutableQueue", "IImmutableStack", "IImmutableSet", "IImmutableDictionary",
        "IComparable", "IEquatable", "IFormattable", "IDisposable", "IConvertible", "ICloneable",
    ];

    private static readonly Dictionary<string, string> s_instead = new()
    {
        ["System.Lazy"] = "compute the value where it is needed, or keep the value itself",
        ["System.Text.Json.Nodes.JsonNode"] = "keep its text, or a type of your own",
        ["System.Text.Json.JsonDocument"] = "keep its text, or a type of your own",
        ["System.Text.Json.JsonElement"] = "keep its text, or a type of your own",
        ["System.Threading.CancellationTokenSource"] = "use a CallCancellation",
        ["System.Threading.CancellationToken"] = "use a CallCancellation",
        ["System.Threading.Tasks.Task"] = "use a Call",
        ["System.Threading.Tasks.ValueTask"] = "use a Call",
        ["System.Threading.Tasks.TaskCompletionSource"] = "use a Call",
        ["System.Threading.Timer"] = "use Every or Delay",
        ["System.Threading.AsyncLocal"] = "pass the value on",
        ["System.Threading.ThreadLocal"] = "pass the value on",
        ["System.ReadOnlyMemory"] = "keep a byte[]",
        ["System.Memory"] = "keep a byte[]",
        ["System.ArraySegment"] = "keep an array",
        ["System.Type"] = "keep a name, an enum or a number",
        ["System.ValueTuple"] = "leave it out, since it holds nothing",
        ["System.StringComparer"] = "give it to the collection, which keeps it",
        ["System.Collections.Concurrent"] = "use a Dictionary or a Queue; handlers run one at a time",
        ["System.Collections.Immutable"] = "keep the collection that it builds",
        ["System.Collections.Frozen"] = "use a Dictionary or a HashSet",
        ["System.IO"] = "open it in a NondetTask, and keep what was read",
        ["System.Net"] = "use it in a NondetTask",
    };

    /// <summary>Returns why no checkpoint can hold a value of the type, and what to do instead; null where one can.</summary>
    /// <param name="isLocal">True for what a method holds while it awaits, which may be a delegate.</param>
    internal static string? WhyNot(ITypeSymbol type, IAssemblySymbol app, bool isLocal = false)
    {
        if (!isLocal && (type.TypeKind == TypeKind.Delegate
            || type.SpecialType is SpecialType.System_Delegate or SpecialType.System_MulticastDelegate)) return Function;
        if (type is IArrayTypeSymbol array) return WhyNot(array.ElementType, app);
        if (type is IPointerTypeSymbol
            or IFunctionPointerTypeSymbol) return "a pointer is an address of this process; keep what it points at";
        if (type.TypeKind is TypeKind.Error or TypeKind.Enum or TypeKind.Delegate or TypeKind.TypeParameter or TypeKind.Dynamic
            || type is not INamedTypeSymbol named || IsPrimitive(named) || HasSerializer(named, app)) return null;
        if (!Symbols.IsOfFramework(named.ContainingAssembly)) return OfApp(named, app);
        string name = NameOf(named.OriginalDefinition);
        bool isKnown = (named.IsTupleType && named.Arity > 0)
            || named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T || IsException(named)
            || (named.TypeKind == TypeKind.Interface ? s_interfaces.Contains(named.Name) : s_values.Contains(name) || s_classes.Contains(
                name));
        if (!isKnown) return $"{Unknown}; {InsteadOf(named)}";
        if (name is "System.Collections.Immutable.ImmutableHashSet" or "System.Collections.Immutable.ImmutableDictionary"
            && !HasKnownOrder(named.TypeArguments[0]))
            return $"its order is that of hash codes, which differ from process to process, and an order of {named.TypeArguments[0].ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)} is not known; use a HashSet or Dictionary, or a sorted one";
        return named.TypeArguments.Select(each => WhyNotArgument(each, app, isLocal && named.IsTupleType))
            .FirstOrDefault(static why => why is not null);
    }

    private static string? WhyNotArgument(ITypeSymbol type, IAssemblySymbol app, bool isLocal = false) =>
        WhyNot(type, app, isLocal) is { } why
            ? $"{type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)} in it cannot be kept: {why}" : null;

    private static string? OfApp(INamedTypeSymbol type, IAssemblySymbol app)
    {
        if (type.TypeKind == TypeKind.Interface) return null;
        for (INamedTypeSymbol? at = type.BaseType; at is not null; at = at.BaseType)
        {
            if (at.SpecialType is SpecialType.System_Object or SpecialType.System_ValueType || IsException(at)) break;
            if (Symbols.IsOfFramework(at.ContainingAssembly))
                return $"it derives from {at.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)}, whose state is the framework's; hold one in a field instead";
        }
        return type.TypeArguments.Select(each => WhyNotArgument(each, app)).FirstOrDefault(static why => why is not null);
    }

    /// <summary>Says whether an image can list values of the type in an order of theirs, by the rule of the binding's HashOrder.</summary>
    private static bool HasKnownOrder(ITypeSymbol type) =>
        type.TypeKind is TypeKind.Enum or TypeKind.TypeParameter or TypeKind.Error
        || (type is INamedTypeSymbol named && ((IsPrimitive(named) && named.SpecialType != SpecialType.System_Object)
            || (s_values.Contains(NameOf(named.OriginalDefinition)) && !named.IsGenericType
                && named.Name != "BigInteger" && named.ContainingType is null)));

    private static bool IsPrimitive(INamedTypeSymbol type) => type.SpecialType is (
        >= SpecialType.System_Object and <= SpecialType.System_UIntPtr)
        or SpecialType.System_DateTime and not SpecialType.System_Void;

    private static bool IsException(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.BaseType)
            if (at is { Name: "Exception", ContainingNamespace.Name: "System" }) return true;
        return false;
    }

    /// <summary>Tells whether the app says itself how the type is kept.</summary>
    private static bool HasSerializer(INamedTypeSymbol type, IAssemblySymbol app) =>
        Symbols.Attribute(type, "StateSerializerAttribute") is not null
        || app.GetAttributes().Any(each => Symbols.IsOurs(each.AttributeClass, "StateSerializerAttribute")
            && each.ConstructorArguments.FirstOrDefault().Value is INamedTypeSymbol serializer
            && serializer.AllInterfaces.Any(face => Symbols.IsOurs(face, "IStateSerializer", arity: 1)
                && SymbolEqualityComparer.Default.Equals(face.TypeArguments[0], type)));

    private static string InsteadOf(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.BaseType)
            for (string name = NameOf(at.OriginalDefinition); name.Length > 0; name = name.Substring(0, Math.Max(0, name.LastIndexOf('.'))))
                if (s_instead.TryGetValue(name, out string? instead)) return instead;
        return "keep what it was made of, or mark it [NotState] and make it again in BecomingPrimary or where it is needed";
    }

    private static string NameOf(INamedTypeSymbol type) =>
        type.ContainingType is { } outer ? $"{NameOf(outer)}.{type.Name}"
        : type.ContainingNamespace is { IsGlobalNamespace: false } space ? $"{space.ToDisplayString()}.{type.Name}" : type.Name;
}
