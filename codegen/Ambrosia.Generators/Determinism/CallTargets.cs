using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Finds the methods that a virtual call may run: the overrides and implementations that the compilation declares, of members of other
/// projects and packages too. They are collected when the first is asked for.
/// </summary>
internal sealed class CallTargets(Compilation compilation)
{
    private Dictionary<ISymbol, List<IMethodSymbol>>? _heirs;

    internal IEnumerable<ISymbol> Of(CallEdge edge, CancellationToken cancel)
    {
        yield return edge.Target;
        if (!edge.IsVirtual || edge.Target is not IMethodSymbol method
            || !(method.IsVirtual || method.IsAbstract || method.IsOverride
                || method.ContainingType.TypeKind == TypeKind.Interface)) yield break;
        _heirs ??= Collect(cancel);
        if (!_heirs.TryGetValue(method, out List<IMethodSymbol>? heirs)) yield break;
        foreach (IMethodSymbol heir in heirs)
            if (CanBe(edge.Receiver, heir.ContainingType)) yield return heir;
    }

    /// <summary>
    /// Tells whether a call of the type's members is followed into what the compilation declares. Everybody implements what the framework
    /// has, so that its calls would lead to what no handler calls.
    /// </summary>
    internal static bool MayLeadBack(INamedTypeSymbol type) =>
        !type.DeclaringSyntaxReferences.IsEmpty
        || (!Symbols.IsOfFramework(type.ContainingAssembly) && !type.ContainingAssembly.Name.StartsWith(Symbols.Namespace,
            System.StringComparison.Ordinal));

    /// <summary>Tells whether an object of the static type can be one whose method is that of the other type.</summary>
    private static bool CanBe(ITypeSymbol? receiver, INamedTypeSymbol type) =>
        receiver is null || IsOrDerives(type, receiver) || IsOrDerives(receiver, type);

    private static bool IsOrDerives(ITypeSymbol type, ITypeSymbol from)
    {
        for (ITypeSymbol? at = type; at is not null; at = at.BaseType)
            if (SymbolEqualityComparer.Default.Equals(at.OriginalDefinition, from.OriginalDefinition)) return true;
        return false;
    }

    private Dictionary<ISymbol, List<IMethodSymbol>> Collect(CancellationToken cancel)
    {
        var heirs = new Dictionary<ISymbol, List<IMethodSymbol>>(SymbolEqualityComparer.Default);
        foreach (INamedTypeSymbol type in SourceTypes.Of(compilation, cancel))
        {
            foreach (IMethodSymbol method in type.GetMembers().OfType<IMethodSymbol>())
                for (IMethodSymbol? parent = method.OverriddenMethod; parent is not null; parent = parent.OverriddenMethod)
                    Add(heirs, parent, method);
            if (type.TypeKind is not (TypeKind.Class or TypeKind.Struct)) continue;
            foreach (INamedTypeSymbol contract in type.AllInterfaces.Where(static each => MayLeadBack(each)))
                foreach (IMethodSymbol member in contract.GetMembers().OfType<IMethodSymbol>())
                    if (type.FindImplementationForInterfaceMember(member) is IMethodSymbol found) Add(heirs, member, found);
        }
        return heirs;
    }

    private static void Add(Dictionary<ISymbol, List<IMethodSymbol>> heirs, IMethodSymbol parent, IMethodSymbol heir)
    {
        ISymbol key = parent.OriginalDefinition;
        if (!heirs.TryGetValue(key, out List<IMethodSymbol>? known)) heirs[key] = known = [];
        if (!known.Contains(heir.OriginalDefinition, SymbolEqualityComparer.Default)) known.Add(heir.OriginalDefinition);
    }
}
