using System.Collections.Generic;
using System.Threading;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Roslyn;

/// <summary>Lists the types that a compilation declares, nested ones too, without those that were generated for the binding.</summary>
internal static class SourceTypes
{
    internal static IEnumerable<INamedTypeSymbol> Of(Compilation compilation, CancellationToken cancel)
    {
        var open = new Stack<INamespaceOrTypeSymbol>();
        open.Push(compilation.Assembly.GlobalNamespace);
        while (open.Count > 0)
        {
            cancel.ThrowIfCancellationRequested();
            INamespaceOrTypeSymbol at = open.Pop();
            if (at is INamedTypeSymbol type) yield return type;
            foreach (ISymbol member in at.GetMembers())
                if (member is INamespaceOrTypeSymbol inner) open.Push(inner);
        }
    }
}
