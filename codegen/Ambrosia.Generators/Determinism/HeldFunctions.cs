using System.Collections.Generic;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Knows, within one body, the lambdas that locals have: another body, such as that of a task, may call them. One walk, one thread.
/// </summary>
internal sealed class HeldFunctions
{
    private readonly Dictionary<ISymbol, (IAnonymousFunctionOperation Function, MethodFacts Around)> _functions =
        new(SymbolEqualityComparer.Default);

    /// <summary>Remembers the lambda that a local is given in a body, and returns it.</summary>
    internal IAnonymousFunctionOperation? Note(ILocalSymbol local, IOperation value, MethodFacts around)
    {
        if ((HandlerRules.Unconverted(value) as IDelegateCreationOperation)?.Target is not IAnonymousFunctionOperation function) return null;
        _functions[local] = (function, around);
        return function;
    }

    /// <summary>Returns the lambda that a local was given in another body than the one that uses it.</summary>
    /// <param name="user">The body that uses it; null: a task does.</param>
    internal IAnonymousFunctionOperation? OfOther(ILocalSymbol local, MethodFacts? user) =>
        _functions.TryGetValue(local, out var known) && known.Around != user ? known.Function : null;

    /// <summary>Tells whether a local of a handler is used by tasks alone: as their body, or in it.</summary>
    internal static bool IsForTasks(ILocalSymbol local, IOperation declaration)
    {
        if (IsInTask(declaration)) return false;
        IOperation root = declaration;
        while (root.Parent is { } parent) root = parent;
        bool isUsed = false;
        foreach (IOperation each in root.Descendants())
        {
            if (each is not ILocalReferenceOperation use || !SymbolEqualityComparer.Default.Equals(use.Local, local)) continue;
            if (!IsInTask(use)) return false;
            isUsed = true;
        }
        return isUsed;
    }

    private static bool IsInTask(IOperation use)
    {
        for (IOperation? at = use.Parent; at is not null; at = at.Parent)
            if (at is IInvocationOperation call && ImmortalTypes.IsTask(call.TargetMethod)) return true;
        return false;
    }
}
