using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Losses;

/// <summary>Finds the use of a local Call that may be its second await: a later one on the same way, or one that a loop repeats.</summary>
internal static class SecondAwait
{
    /// <param name="uses">All uses of one local, in the order of the source.</param>
    internal static ILocalReferenceOperation? Find(List<ILocalReferenceOperation> uses)
    {
        ILocalReferenceOperation? first = null;
        foreach (ILocalReferenceOperation use in uses)
        {
            if (use.Parent is ISimpleAssignmentOperation assignment && assignment.Target == use)
            {
                first = null;
                continue;
            }
            if (!IsAwait(use)) continue;
            if (IsRepeated(use, uses) || (first is not null && !AreApart(first, use))) return use;
            first ??= use;
        }
        return null;
    }

    /// <summary>Tells whether the use takes the outcome: an await, or an await of what Within or CancelledBy make of it.</summary>
    private static bool IsAwait(ILocalReferenceOperation use) =>
        use.Parent is IAwaitOperation
        || (use.Parent is IInvocationOperation { TargetMethod.Name: "Within" or "CancelledBy", Parent: IAwaitOperation } call
            && call.Instance == use);

    private static bool IsRepeated(ILocalReferenceOperation use, List<ILocalReferenceOperation> uses)
    {
        for (IOperation? at = use.Parent; at is not null && at is not IAnonymousFunctionOperation; at = at.Parent)
        {
            if (at is not ILoopOperation loop) continue;
            bool isDeclaredInside = loop.Syntax.Span.Contains(use.Local.Locations[0].SourceSpan);
            bool isSetInside = uses.Any(each => each.Parent is ISimpleAssignmentOperation assignment && assignment.Target == each
                && loop.Syntax.Span.Contains(each.Syntax.Span));
            if (!isDeclaredInside && !isSetInside && !Leaves(use, loop)) return true;
        }
        return false;
    }

    /// <summary>
    /// Tells whether only one of two uses is ever executed: they are in different branches, or the first branch is left behind it.
    /// </summary>
    private static bool AreApart(IOperation first, IOperation second)
    {
        for (IOperation at = first; at.Parent is { } parent; at = parent)
        {
            if (!parent.Syntax.Span.Contains(second.Syntax.Span))
            {
                if (at is IBlockOperation block && IsLeft(block)) return true;
                continue;
            }
            if (at is IBlockOperation inner && IsLeft(inner) && parent is not IMethodBodyBaseOperation) return true;
            return parent is IConditionalOperation or ISwitchOperation or ISwitchExpressionOperation
                && !Branch(parent, first).Span.Contains(second.Syntax.Span);
        }
        return false;
    }

    private static SyntaxNode Branch(IOperation parent, IOperation inside) =>
        parent.ChildOperations.First(each => each.Syntax.Span.Contains(inside.Syntax.Span)).Syntax;

    private static bool Leaves(IOperation use, ILoopOperation loop)
    {
        for (IOperation? at = use.Parent; at is not null && at != loop; at = at.Parent)
            if (at is IBlockOperation block && IsLeft(block)) return true;
        return false;
    }

    private static bool IsLeft(IBlockOperation block) => block.Operations.LastOrDefault() is IReturnOperation or IThrowOperation
        or IBranchOperation
        or IExpressionStatementOperation { Operation: IThrowOperation };
}
