using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>It is what the author of a member, a type or an assembly says of it with [Deterministic] or [NonDeterministic].</summary>
internal sealed record Statement(bool IsDeterministic, string Reason)
{
    /// <summary>Returns what is said nearest to a member; null where nothing is.</summary>
    internal static Statement? Of(ISymbol member)
    {
        for (ISymbol? at = member.OriginalDefinition; at is not null; at = at.ContainingSymbol)
        {
            if (at is INamespaceSymbol) return member.ContainingAssembly is { } assembly ? At(assembly) : null;
            if (At(at) is { } said) return said;
            if (at is IMethodSymbol { AssociatedSymbol: { } property } && At(property) is { } ofProperty) return ofProperty;
        }
        return null;
    }

    private static Statement? At(ISymbol symbol)
    {
        if (Symbols.Attribute(symbol, "DeterministicAttribute") is not null) return new Statement(true, "");
        return Symbols.Attribute(symbol, "NonDeterministicAttribute") is { } said
            ? new Statement(false, said.ConstructorArguments.FirstOrDefault().Value as string ?? "") : null;
    }
}
