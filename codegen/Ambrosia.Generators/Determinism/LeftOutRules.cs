using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Finds what bodies count in members with [NotState], and where such a number goes into a message, a result or the state: behind a restart
/// it begins anew, and a replay would send another one. One object for each body, which knows the locals that have such a number.
/// </summary>
internal sealed class LeftOutRules(Counterparts toFirst)
{
    private const string Rule = "AMB116", Mend = "a field without [NotState], which is in every checkpoint";

    private readonly Dictionary<ISymbol, ISymbol> _locals = new(SymbolEqualityComparer.Default);

    /// <summary>Notes a member that is counted, or whose number is sent.</summary>
    internal void Note(IMemberReferenceOperation operation, MethodFacts facts)
    {
        if (!StateTracker.IsLeftOut(operation.Member)) return;
        if (IsCounted(operation)) facts.Counted.Add(toFirst.Of(operation.Member.OriginalDefinition));
        if (NumberOf(operation) is { } number) NoteNumber(number, operation.Member, facts);
    }

    /// <summary>Notes a local that has the number of a member.</summary>
    internal void Note(ILocalReferenceOperation operation, MethodFacts facts)
    {
        if (_locals.TryGetValue(operation.Local, out ISymbol? member)) NoteNumber(operation, member, facts);
    }

    /// <summary>Notes what a local is given.</summary>
    internal void Note(ILocalSymbol local, IOperation value)
    {
        if (!IsNumber(local.Type)) return;
        ISymbol? member = value.DescendantsAndSelf().Select(each => each switch
        {
            IMemberReferenceOperation reference when StateTracker.IsLeftOut(reference.Member) && NumberOf(reference) is not null =>
                reference.Member,
            ILocalReferenceOperation other when _locals.TryGetValue(other.Local, out ISymbol? known) => known,
            _ => null,
        }).FirstOrDefault(static each => each is not null);
        if (member is not null) _locals[local] = member;
    }

    private void NoteNumber(IOperation number, ISymbol member, MethodFacts facts)
    {
        if (IsSent(number))
            facts.Sent.Add((toFirst.Of(member.OriginalDefinition),
                new Fault(Rule, number.Syntax.GetLocation(), $"the [NotState] {Places.NameOf(member)}, which is counted and sent,", Mend)));
    }

    /// <summary>Returns the number that is read of a member: its own value, or the count of what it holds.</summary>
    private static IOperation? NumberOf(IMemberReferenceOperation operation) =>
        operation.Parent is IPropertyReferenceOperation { Property.Name: "Count" or "Length" } count && count.Instance == operation ? count
        : operation.Type is { } type && IsNumber(type) ? operation : null;

    private static bool IsNumber(ITypeSymbol type) => type.SpecialType is >= SpecialType.System_SByte and <= SpecialType.System_Double;

    private static bool IsCounted(IMemberReferenceOperation operation) => operation.Parent switch
    {
        IIncrementOrDecrementOperation => true,
        ICompoundAssignmentOperation change => change.Target == operation,
        ISimpleAssignmentOperation change => change.Target == operation
            && change.Value.DescendantsAndSelf().OfType<IMemberReferenceOperation>()
                .Any(each => SymbolEqualityComparer.Default.Equals(each.Member, operation.Member)),
        IArgumentOperation { Parameter.RefKind: RefKind.Ref } => true,
        IInvocationOperation call => call.Instance == operation && StaticRules.Changing.Contains(call.TargetMethod.Name),
        IPropertyReferenceOperation { Property.IsIndexer: true } indexer => indexer.Instance == operation && Access.Of(indexer).Writes,
        _ => false,
    };

    /// <summary>Tells whether a number goes into a message, out of its method, or into the state.</summary>
    private static bool IsSent(IOperation number)
    {
        IOperation below = number;
        for (IOperation? at = number.Parent; at is not null and not IBlockOperation; (below, at) = (at, at.Parent))
        {
            switch (at)
            {
                case IInvocationOperation call when CultureRules.IsForPeople(call.TargetMethod):
                    return false;
                case IInvocationOperation call when ImmortalTypes.IsSending(call.TargetMethod) || IsKept(call, below):
                    return true;
                case IReturnOperation { ReturnedValue: not null }:
                    return true;
                case IAssignmentOperation assignment when assignment.Value == below && IsOfState(assignment.Target):
                    return true;
                case IAssignmentOperation assignment when assignment.Value == below:
                    return false;
            }
        }
        return false;
    }

    /// <summary>Tells whether a call puts it into a collection of the state.</summary>
    private static bool IsKept(IInvocationOperation call, IOperation argument) =>
        argument is IArgumentOperation && StaticRules.Changing.Contains(call.TargetMethod.Name)
        && call.Instance is { } owner && IsOfState(owner);

    private static bool IsOfState(IOperation target) => target switch
    {
        IArrayElementReferenceOperation element => IsOfState(element.ArrayReference),
        IPropertyReferenceOperation { Property.IsIndexer: true, Instance: { } owner } => IsOfState(owner),
        IMemberReferenceOperation { Instance: not null } reference => !StateTracker.IsLeftOut(reference.Member),
        _ => false,
    };
}
