using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges exceptions that become texts: the stack is in them, which differs between builds and behind a restore. What goes to a log line
/// is fine.
/// </summary>
internal static class StackRules
{
    private const string Rule = "AMB106", Mend = "Message or the type; a stack differs between builds and restores";

    internal static Fault? Of(IInvocationOperation operation)
    {
        IMethodSymbol method = operation.TargetMethod;
        if (method is { Name: "ToString", Parameters.Length: 0 })
            return operation.Instance is { } of && HasStack(of) ? Found(operation, of) : null;
        if (!method.DeclaringSyntaxReferences.IsEmpty || (method.ContainingType.Name is not ("String" or "StringBuilder" or "Convert")
            && method.Name != "AppendFormatted")) return null;
        return operation.Arguments.SelectMany(static each => each.Value is IArrayCreationOperation { Initializer: { } all }
            ? all.ElementValues : [each.Value]).FirstOrDefault(HasStack) is { } given ? Found(operation, given) : null;
    }

    internal static Fault? Of(IInterpolationOperation operation) =>
        HasStack(operation.Expression) ? Found(operation, operation.Expression) : null;

    /// <summary>Judges a text that is put together with <c>+</c>.</summary>
    internal static Fault? Of(IBinaryOperation operation) =>
        operation.OperatorKind == BinaryOperatorKind.Add && operation.Type?.SpecialType == SpecialType.System_String
            && new[] { operation.LeftOperand, operation.RightOperand }.FirstOrDefault(HasStack) is { } part ? Found(operation, part) : null;

    private static Fault? Found(IOperation operation, IOperation exception) => CultureRules.IsForPeople(operation) ? null
        : new Fault(Rule, HandlerRules.Unconverted(exception).Syntax.GetLocation(),
            $"the text of a {Places.NameOf(HandlerRules.Unconverted(exception).Type!)}, which has its stack in it,", Mend);

    /// <summary>Tells whether an object is an exception whose text the framework makes.</summary>
    private static bool HasStack(IOperation operation)
    {
        for (ITypeSymbol? at = HandlerRules.Unconverted(operation).Type; at is not null; at = at.BaseType)
        {
            if (at.Name == "Exception" && Symbols.NamespaceOf(at) == "System") return true;
            if (at.GetMembers("ToString").OfType<IMethodSymbol>().Any(static each => each.Parameters.IsEmpty
                && !each.DeclaringSyntaxReferences.IsEmpty && each.IsOverride)) return false;
        }
        return false;
    }
}
