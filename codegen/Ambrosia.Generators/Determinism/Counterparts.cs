using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Finds, for a symbol of one compilation, the same one in another that declares the same: only bodies differ between the two, so that it
/// has the same name there and the same place among those of that name. What is not declared in source is one object in both. One thread.
/// </summary>
internal sealed class Counterparts(IAssemblySymbol? from, IAssemblySymbol? to)
{
    /// <summary>Each symbol is its own.</summary>
    internal static readonly Counterparts None = new(null, null);

    private readonly Dictionary<ISymbol, ISymbol> _known = new(SymbolEqualityComparer.Default);

    /// <summary>Returns the counterpart of a definition. Functions within bodies have none, and are returned as they are.</summary>
    /// <exception cref="DeclarationsDifferException">The other compilation declares something else.</exception>
    internal T Of<T>(T symbol)
        where T : class, ISymbol
    {
        if (from is null || !ReferenceEquals(symbol.ContainingAssembly, from)) return symbol;
        if (symbol is IMethodSymbol { MethodKind: MethodKind.LocalFunction or MethodKind.AnonymousFunction }
            || (symbol as INamedTypeSymbol ?? symbol.ContainingType) is { IsAnonymousType: true }) return symbol;
        if (!_known.TryGetValue(symbol, out ISymbol? known)) _known[symbol] = known = Find(symbol);
        return (T)known;
    }

    private ISymbol Find(ISymbol symbol)
    {
        switch (symbol)
        {
            case IAssemblySymbol:
                return to!;
            case INamespaceSymbol { IsGlobalNamespace: true }:
                return to!.GlobalNamespace;
            case IMethodSymbol { PartialDefinitionPart: { } definition }:
                return Of(definition).PartialImplementationPart ?? throw Missing(symbol);
            case INamedTypeSymbol type:
                INamespaceOrTypeSymbol around = Around(type);
                return At(around.GetTypeMembers(type.Name, type.Arity), ((INamespaceOrTypeSymbol)type.ContainingSymbol)
                    .GetTypeMembers(type.Name, type.Arity), type);
            case INamespaceSymbol space:
                return Around(space).GetMembers(space.Name).OfType<INamespaceSymbol>().FirstOrDefault() ?? throw Missing(symbol);
            default:
                return At(Around(symbol).GetMembers(symbol.Name), symbol.ContainingType.GetMembers(symbol.Name), symbol);
        }
    }

    private INamespaceOrTypeSymbol Around(ISymbol symbol) =>
        Of(symbol.ContainingSymbol as INamespaceOrTypeSymbol ?? throw Missing(symbol));

    private static ISymbol At<T>(IReadOnlyList<T> there, IReadOnlyList<T> here, ISymbol symbol)
        where T : ISymbol
    {
        for (int place = 0; place < here.Count && here.Count == there.Count; place++)
            if (SymbolEqualityComparer.Default.Equals(here[place], symbol) && there[place].Kind == symbol.Kind) return there[place];
        throw Missing(symbol);
    }

    private static DeclarationsDifferException Missing(ISymbol symbol) => new($"{symbol} is declared in one of two compilations.");
}

/// <summary>Says that a compilation which was taken for one of the same declarations is another.</summary>
internal sealed class DeclarationsDifferException(string message) : Exception(message);
