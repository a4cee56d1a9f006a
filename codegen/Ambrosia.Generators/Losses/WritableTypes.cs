using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Ambrosia.State;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Tells which types a checkpoint can hold, by the table that the binding writes by. A place whose values are of other classes
/// than it says (object, an interface, an open class of the app) is judged when it is written.
/// </summary>
internal static class WritableTypes
{
    private const string Unknown = "its state is the framework's and not known",
        Function = "a function can wait in a local of a method, since it belongs to one build; keep data that says what is to be done, or an object of your own with a method";

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
            || type is not INamedTypeSymbol named || HasSerializer(named, app)) return null;
        if (!Symbols.IsOfFramework(named.ContainingAssembly))
            return IsOfBinding(named) ? OfBinding(named, app) : OfApp(named, app);
        Kept how = HowOf(named);
        if (how == Kept.No && !IsException(named)) return $"{Unknown}; {InsteadOf(named)}";
        if (how == Kept.Ordered && !HasKnownOrder(named.TypeArguments[0]))
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

    /// <summary>Judges a type of the binding: what an app makes of them is in its own assemblies.</summary>
    private static string? OfBinding(INamedTypeSymbol type, IAssemblySymbol app) =>
        type.TypeKind == TypeKind.Interface || IsException(type) ? null
        : HowOf(type) == Kept.No ? $"no checkpoint holds it; {InsteadOf(type)}"
        : type.TypeArguments.Select(each => WhyNotArgument(each, app)).FirstOrDefault(static why => why is not null);

    private static bool IsOfBinding(INamedTypeSymbol type) => type.ContainingAssembly?.Name == Symbols.Namespace;

    /// <summary>Says whether an image can list values of the type in an order of theirs, by the rule of the binding's HashOrder.</summary>
    private static bool HasKnownOrder(ITypeSymbol type) =>
        type.TypeKind is TypeKind.Enum or TypeKind.TypeParameter or TypeKind.Error
        || (type is INamedTypeSymbol named && Symbols.IsOfFramework(named.ContainingAssembly) && HowOf(named) == Kept.Value);

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

    private static Kept HowOf(INamedTypeSymbol type) => KeptTypes.HowOf(NameOf(type));

    private static string InsteadOf(INamedTypeSymbol type)
    {
        var names = new List<string>();
        for (INamedTypeSymbol? at = type; at is not null; at = at.BaseType) names.Add(NameOf(at));
        return KeptTypes.InsteadOf(names);
    }

    /// <summary>Returns the name that metadata has, with the namespace.</summary>
    private static string NameOf(INamedTypeSymbol type) =>
        type.ContainingType is { } outer ? $"{NameOf(outer)}+{type.MetadataName}"
        : type.ContainingNamespace is { IsGlobalNamespace: false } ? $"{Symbols.NamespaceOf(type)}.{type.MetadataName}" : type.MetadataName;
}
