using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>Says where something is reported, and how it is called there.</summary>
internal static class Places
{
    private static readonly SymbolDisplayFormat s_member = new(
        typeQualificationStyle: SymbolDisplayTypeQualificationStyle.NameAndContainingTypes,
        genericsOptions: SymbolDisplayGenericsOptions.None, memberOptions: SymbolDisplayMemberOptions.IncludeContainingType,
        miscellaneousOptions: SymbolDisplayMiscellaneousOptions.UseSpecialTypes);

    /// <summary>Returns the name of a member with its type: <c>DateTime.UtcNow</c>.</summary>
    internal static string NameOf(ISymbol member) => member switch
    {
        IMethodSymbol { MethodKind: MethodKind.Constructor } constructor => $"new {constructor.ContainingType.Name}()",
        IMethodSymbol { MethodKind: MethodKind.StaticConstructor } constructor => $"static {constructor.ContainingType.Name}()",
        IMethodSymbol { MethodKind: MethodKind.AnonymousFunction } => "a lambda",
        IMethodSymbol { AssociatedSymbol: { } property } => NameOf(property),
        IMethodSymbol { MethodKind: MethodKind.LocalFunction } function => function.Name,
        _ => $"{member.ContainingType?.Name}.{member.Name}",
    };

    internal static string NameOf(ITypeSymbol type) => type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat);

    /// <summary>Returns the place of what is called, without its arguments.</summary>
    internal static Location Of(IOperation operation) => operation.Syntax switch
    {
        InvocationExpressionSyntax call => call.Expression.GetLocation(),
        _ => operation.Syntax.GetLocation(),
    };
}

/// <summary>Says in which ways a reference is used: to read what is there, or to put something there.</summary>
internal static class Access
{
    internal static (bool Reads, bool Writes) Of(IOperation reference)
    {
        IOperation at = reference;
        while (at.Parent is ITupleOperation) at = at.Parent; // (a, b) = …
        return at.Parent switch
        {
            ISimpleAssignmentOperation assignment when assignment.Target == at => (false, true),
            IDeconstructionAssignmentOperation assignment when assignment.Target == at => (false, true),
            ICompoundAssignmentOperation assignment when assignment.Target == at => (true, true),
            ICoalesceAssignmentOperation assignment when assignment.Target == at => (true, true),
            IIncrementOrDecrementOperation => (true, true),
            IArgumentOperation { Parameter.RefKind: RefKind.Ref } => (true, true),
            IArgumentOperation { Parameter.RefKind: RefKind.Out } => (false, true),
            _ => (true, false),
        };
    }
}
