using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Ambrosia.Generators.Determinism;
using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.State;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Finds the types of a compilation whose objects are in checkpoints: immortals and [Data] types, what their fields are made of, and the
/// classes that stand behind these.
/// </summary>
internal static class StateTypes
{
    internal static HashSet<INamedTypeSymbol> Of(Compilation compilation, CancellationToken cancel)
    {
        List<INamedTypeSymbol> all = [.. SourceTypes.Of(compilation, cancel)
            .Where(static type => type.TypeKind is TypeKind.Class or TypeKind.Struct or TypeKind.Interface)];
        ILookup<INamedTypeSymbol, INamedTypeSymbol> heirs = HeirsIn(all);
        var reached = new HashSet<INamedTypeSymbol>(SymbolEqualityComparer.Default);
        var open = new Stack<INamedTypeSymbol>(all.Where(static type =>
            ImmortalTypes.IsImmortal(type) || Symbols.Attribute(type, "DataAttribute") is not null));
        while (open.Count > 0)
        {
            cancel.ThrowIfCancellationRequested();
            INamedTypeSymbol type = open.Pop().OriginalDefinition;
            if (ImmortalTypes.IsProxy(type) || !reached.Add(type)) continue;
            foreach (INamedTypeSymbol heir in heirs[type]) open.Push(heir);
            if (type.BaseType is { DeclaringSyntaxReferences.IsEmpty: false } parent) open.Push(parent);
            foreach (IFieldSymbol field in FieldsOf(type))
                foreach (INamedTypeSymbol part in PartsOf(field.Type)) open.Push(part);
        }
        return reached;
    }

    /// <summary>Returns the fields of a type that are state; that of an auto-property stands for it.</summary>
    internal static IEnumerable<IFieldSymbol> FieldsOf(INamedTypeSymbol type)
    {
        if (Symbols.Attribute(type, "StateSerializerAttribute") is not null) return [];
        bool isContract = StateReader.IsContract(type);
        return type.GetMembers().OfType<IFieldSymbol>()
            .Where(field => !field.IsStatic && !field.IsConst && StateReader.IsState(field, isContract));
    }

    /// <summary>Says whether a field or property has an initializer that gives it something.</summary>
    internal static bool HasInitializer(ISymbol member, CancellationToken cancel) => member.DeclaringSyntaxReferences
        .Select(each => each.GetSyntax(cancel) switch
        {
            VariableDeclaratorSyntax field => field.Initializer, PropertyDeclarationSyntax property => property.Initializer, _ => null,
        })
        .Any(static each => each is not null && !IsDefault(each.Value));

    private static bool IsDefault(ExpressionSyntax value) => value switch
    {
        PostfixUnaryExpressionSyntax { RawKind: (int)SyntaxKind.SuppressNullableWarningExpression } given => IsDefault(given.Operand),
        LiteralExpressionSyntax literal => literal.Token.ValueText == "0" || literal.Kind() is SyntaxKind.NullLiteralExpression
            or SyntaxKind.DefaultLiteralExpression or SyntaxKind.FalseLiteralExpression,
        _ => value is DefaultExpressionSyntax,
    };

    /// <summary>Returns the events that the compiler keeps in a field, which is state.</summary>
    internal static IEnumerable<IEventSymbol> EventsOf(INamedTypeSymbol type) =>
        Symbols.Attribute(type, "StateSerializerAttribute") is not null || StateReader.IsContract(type) ? []
        : type.GetMembers().OfType<IEventSymbol>().Where(static each => each is { IsStatic: false, IsAbstract: false }
            && each.AddMethod?.IsImplicitlyDeclared == true && !IsLeftOut(each));

    /// <summary>Tells whether the field of an event is marked, which no symbol shows: <c>[field: NotState]</c>.</summary>
    private static bool IsLeftOut(IEventSymbol member) => member.DeclaringSyntaxReferences.Any(static each =>
        each.GetSyntax().FirstAncestorOrSelf<EventFieldDeclarationSyntax>() is { } declaration
        && declaration.AttributeLists.Any(static list => list.Target?.Identifier.ValueText == "field"
            && list.Attributes.Any(static mark => mark.Name.ToString().Split('.').Last() is "NotState" or "NotStateAttribute")));

    private static ILookup<INamedTypeSymbol, INamedTypeSymbol> HeirsIn(List<INamedTypeSymbol> all) =>
        all.SelectMany(static type => (type.BaseType is { } parent ? type.AllInterfaces.Add(parent) : type.AllInterfaces)
                .Where(static each => !each.DeclaringSyntaxReferences.IsEmpty).Select(each => (Parent: each.OriginalDefinition,
                    Heir: type)))
            .ToLookup(static pair => pair.Parent, static pair => pair.Heir, (
                IEqualityComparer<INamedTypeSymbol>)SymbolEqualityComparer.Default);

    private static IEnumerable<INamedTypeSymbol> PartsOf(ITypeSymbol type)
    {
        if (type is IArrayTypeSymbol array) return PartsOf(array.ElementType);
        if (type is not INamedTypeSymbol named) return [];
        IEnumerable<INamedTypeSymbol> parts = named.TypeArguments.SelectMany(PartsOf);
        return named.DeclaringSyntaxReferences.IsEmpty || named.IsTupleType ? parts : parts.Append(named);
    }
}
