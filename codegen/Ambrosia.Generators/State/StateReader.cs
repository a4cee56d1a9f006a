using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.State;

/// <summary>
/// Reads a class or struct as state: its fields, their order and their names. The rules are those of the binding's reflection
/// (StateFields); the binding compares the two and does not use a codec that differs.
/// </summary>
internal static class StateReader
{
    internal static bool IsCandidate(SyntaxNode node) =>
        node is ClassDeclarationSyntax or StructDeclarationSyntax or RecordDeclarationSyntax;

    internal static StateModel? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        if (context.SemanticModel.GetDeclaredSymbol(context.Node, cancel) is not INamedTypeSymbol type || type.IsStatic) return null;
        SyntaxReference first = type.DeclaringSyntaxReferences[0];
        if (first.SyntaxTree != context.Node.SyntaxTree || first.Span != context.Node.Span) return null; // one part stands for all
        var fields = new List<(StateField Model, ITypeSymbol Type)>();
        string obstacle = WhyNot(type) ?? ReadFields(type, context.SemanticModel.Compilation, fields, cancel) ?? "";
        INamedTypeSymbol? inside = null;
        if (obstacle.Length == 0 && !StateCodecPlacement.Find(type, fields.Select(static each => each.Type), out inside))
            obstacle = "a type of its fields is private elsewhere";
        List<string> around = inside is null ? []
            : [.. Symbols.ContainingDeclarations(inside), $"partial {Symbols.Keyword(inside)} {Symbols.Identifier(inside.Name)}"];
        return new StateModel(
            Symbols.PlainName(type), Symbols.NamespaceOf(type), Symbols.PlainName(type), CodecName(type, inside), Symbols.ParametersOf(type),
            Symbols.ConstraintsOf(type, isAnnotated: false), type.Arity, new(around),
            inside is null ? "" : Symbols.PlainName(inside), type.IsReferenceType, IsRoot(type),
            obstacle, obstacle.Length == 0 ? new(fields.Select(static each => each.Model)) : default, new(Referenced(type)),
            new(Supertypes(type)));
    }

    /// <summary>Adds the definitions in source of which a type is made.</summary>
    internal static void CollectReferenced(ITypeSymbol type, ISet<string> into)
    {
        if (type is IArrayTypeSymbol array) CollectReferenced(array.ElementType, into);
        if (type is not INamedTypeSymbol named) return;
        if (!named.DeclaringSyntaxReferences.IsEmpty && !named.IsTupleType) into.Add(Symbols.PlainName(named.OriginalDefinition));
        foreach (ITypeSymbol argument in named.TypeArguments) CollectReferenced(argument, into);
    }

    private static bool IsRoot(INamedTypeSymbol type) =>
        Symbols.Attribute(type, "DataAttribute") is not null || Chain(type).Any(IsImmortalBase);

    private static string? WhyNot(INamedTypeSymbol type)
    {
        if (type.IsAbstract) return "abstract";
        if (type.IsRefLikeType) return "on the stack";
        if (type.IsFileLocal) return "its name is known in its file only";
        for (INamedTypeSymbol? at = type.ContainingType; at is not null; at = at.ContainingType)
            if (at.IsGenericType) return "nested in a generic type";
        foreach (AttributeData each in type.GetAttributes())
            if (each.AttributeClass is { Name: "InlineArrayAttribute" } || Symbols.IsOurs(each.AttributeClass, "StateSerializerAttribute"))
                return "it has another form";
        foreach (INamedTypeSymbol parent in Chain(type))
        {
            if (IsImmortalBase(parent) || parent.SpecialType is SpecialType.System_Object or SpecialType.System_ValueType) return null;
            if (parent.DeclaringSyntaxReferences.IsEmpty) return "it derives from a class whose private fields are not known here";
            if (parent.IsGenericType) return "it derives from a generic class";
        }
        return null;
    }

    private static string? ReadFields(
        INamedTypeSymbol type, Compilation compilation, List<(StateField Model, ITypeSymbol Type)> fields, CancellationToken cancel)
    {
        var own = new List<(INamedTypeSymbol Declaring, string Metadata, ITypeSymbol Type, ISymbol At)>();
        foreach (INamedTypeSymbol declaring in Chain(type).Prepend(type)
            .TakeWhile(static each => !each.DeclaringSyntaxReferences.IsEmpty).Reverse())
        {
            cancel.ThrowIfCancellationRequested();
            if (declaring.GetMembers().OfType<IEventSymbol>()
                .Any(static each => !each.IsStatic && !each.IsAbstract && each.AddMethod?.IsImplicitlyDeclared != false))
                return "it has events";
            bool isContract = IsContract(declaring);
            foreach (IFieldSymbol field in declaring.GetMembers().OfType<IFieldSymbol>()
                .Where(static each => !each.IsStatic && !each.IsConst))
            {
                if (field.IsVolatile || field.IsFixedSizeBuffer || field.RefKind != RefKind.None
                    || field.Type is IPointerTypeSymbol or IFunctionPointerTypeSymbol) return "it has fields of another kind";
                if (IsState(field, isContract))
                    own.Add(
                        (declaring, field.Name, field.Type, field.AssociatedSymbol ?? (field.IsImplicitlyDeclared ? declaring : field)));
            }
        }
        for (int place = 0; place < own.Count; place++)
        {
            (INamedTypeSymbol declaring, string metadata, ITypeSymbol fieldType, ISymbol at) = own[place];
            if (UngeneratedProxies.NameOf(fieldType, at, compilation) is not { } typeName) return "a field is of a type that does not exist";
            bool isDouble = !SymbolEqualityComparer.Default.Equals(declaring, type)
                && own.Any(other => other.Metadata == metadata && !SymbolEqualityComparer.Default.Equals(other.Declaring, declaring));
            (string write, string read) = StateFieldCode.Of(fieldType, typeName);
            fields.Add(
                (new StateField(isDouble ? $"{declaring.MetadataName}.{metadata}" : metadata, metadata, Symbols.PlainName(declaring),
                    typeName, write, read), fieldType));
        }
        return null;
    }

    internal static bool IsContract(INamedTypeSymbol type) =>
        type.GetAttributes()
            .Any(static each => each.AttributeClass?.ToDisplayString() == "System.Runtime.Serialization.DataContractAttribute");

    internal static bool IsState(IFieldSymbol field, bool isContract)
    {
        if (IsNotState(field)) return false;
        return !isContract || IsMarked(field, "DataMember");
    }

    /// <summary>Says whether the app leaves a field out of the state.</summary>
    internal static bool IsNotState(IFieldSymbol field) =>
        Carriers(field).Any(static each => Symbols.Attribute(each, "NotStateAttribute") is not null);

    /// <summary>Says whether a field of a data contract is left out on purpose.</summary>
    internal static bool IsIgnored(IFieldSymbol field) => IsMarked(field, "IgnoreDataMember");

    private static bool IsMarked(IFieldSymbol field, string mark) => Carriers(field).SelectMany(static each => each.GetAttributes())
        .Any(each => each.AttributeClass?.ToDisplayString() == $"System.Runtime.Serialization.{mark}Attribute");

    private static ISymbol[] Carriers(IFieldSymbol field) => field.AssociatedSymbol is { } property ? [field, property] : [field];

    private static SortedSet<string> Referenced(INamedTypeSymbol type)
    {
        var referenced = new SortedSet<string>(System.StringComparer.Ordinal);
        foreach (INamedTypeSymbol declaring in Chain(type).Prepend(type).Where(static each => !each.DeclaringSyntaxReferences.IsEmpty))
        {
            bool isContract = IsContract(declaring);
            foreach (IFieldSymbol field in declaring.GetMembers().OfType<IFieldSymbol>())
                if (!field.IsStatic && IsState(field, isContract)) CollectReferenced(field.Type, referenced);
        }
        return referenced;
    }

    private static IEnumerable<string> Supertypes(INamedTypeSymbol type) =>
        Chain(type).Concat(type.AllInterfaces).Where(static each => !each.DeclaringSyntaxReferences.IsEmpty)
            .Select(static each => Symbols.PlainName(each.OriginalDefinition));

    private static IEnumerable<INamedTypeSymbol> Chain(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type.BaseType; at is not null; at = at.BaseType) yield return at;
    }

    private static bool IsImmortalBase(INamedTypeSymbol type) =>
        Symbols.IsOurs(type, "Immortal") || Symbols.IsOurs(type, "Immortal", arity: 1);

    private static string CodecName(INamedTypeSymbol type, INamedTypeSymbol? inside)
    {
        string name = type.Name;
        for (INamedTypeSymbol? at = type.ContainingType; at is not null && inside is null; at = at.ContainingType)
            name = $"{at.Name}_{name}";
        return inside is null ? $"{name}StateCodec" : $"__{name}StateCodec";
    }
}
