using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Diagnostics;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Contracts;

/// <summary>
/// Reads the exceptions that a contract names by [Throws]. A type that would lose something on its way is reported and left out.
/// </summary>
internal static class FailureReader
{
    internal static List<FailureModel> Read(INamedTypeSymbol contract, List<DiagnosticInfo> diagnostics)
    {
        var found = new List<FailureModel>();
        foreach (INamedTypeSymbol declaring in new[] { contract }.Concat(contract.AllInterfaces))
            foreach (ISymbol at in declaring.GetMembers().Prepend(declaring))
                foreach (INamedTypeSymbol type in TypesAt(at))
                {
                    if (WhyNot(type) is { } why) diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Failure, at, at.Name, type.Name, why));
                    else if (!found.Any(each => each.TypeName == Symbols.FullName(type)))
                        found.Add(new FailureModel(Symbols.FullName(type), MetadataName(type), HasConstructor(type, withInner: true)));
                }
        return found;
    }

    private static IEnumerable<INamedTypeSymbol> TypesAt(ISymbol symbol) =>
        symbol.GetAttributes().Where(static each => Symbols.IsOurs(each.AttributeClass, "ThrowsAttribute"))
            .Select(static each => each.ConstructorArguments.FirstOrDefault().Value).OfType<INamedTypeSymbol>();

    private static string? WhyNot(INamedTypeSymbol type)
    {
        if (!IsException(type)) return "it does not derive from Exception";
        if (type.IsAbstract || type.IsGenericType) return "it is abstract or generic, so none can be made where it arrives";
        for (INamedTypeSymbol? at = type; at is not null; at = at.ContainingType)
            if (at.DeclaredAccessibility is not (Accessibility.Public or Accessibility.Internal)) return "it is not public or internal";
        for (INamedTypeSymbol? at = type; at is { DeclaringSyntaxReferences.IsEmpty: false }; at = at.BaseType)
            if (at.GetMembers().OfType<IFieldSymbol>().FirstOrDefault(static field => !field.IsStatic && !field.IsConst) is { } lost)
                return $"its {(lost.AssociatedSymbol ?? lost).Name} would be lost, since the message is all that travels";
        return HasConstructor(type, withInner: false) || HasConstructor(type, withInner: true) ? null
            : "it has no public constructor whose parameter is called message";
    }

    private static bool HasConstructor(INamedTypeSymbol type, bool withInner) => type.InstanceConstructors.Any(each =>
        each.DeclaredAccessibility == Accessibility.Public && each.Parameters.Length == (withInner ? 2 : 1)
        && each.Parameters[0] is { Name: "message", Type.SpecialType: SpecialType.System_String }
        && (!withInner || each.Parameters[1].Type is INamedTypeSymbol { Name: "Exception", ContainingNamespace.Name: "System" }));

    private static bool IsException(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.BaseType)
            if (at is { Name: "Exception", ContainingNamespace.Name: "System" }) return true;
        return false;
    }

    /// <summary>Returns the name as the runtime has it, by which a failure travels.</summary>
    private static string MetadataName(INamedTypeSymbol type) =>
        type.ContainingType is { } outer ? $"{MetadataName(outer)}+{type.MetadataName}"
        : Symbols.NamespaceOf(type) is { Length: > 0 } space ? $"{space}.{type.MetadataName}" : type.MetadataName;
}

/// <summary>It describes an exception that both sides of a contract know.</summary>
/// <param name="TypeName">The name from <c>global::</c> on.</param>
/// <param name="SentName">The name by which it travels.</param>
/// <param name="TakesInner">True where a public constructor takes a message and an inner exception.</param>
internal sealed record FailureModel(string TypeName, string SentName, bool TakesInner)
{
    /// <summary>Returns the expression that makes one of <c>message</c> and <c>inner</c>.</summary>
    internal string Made => TakesInner ? $"new {TypeName}(message, inner!)" : $"new {TypeName}(message)";
}
