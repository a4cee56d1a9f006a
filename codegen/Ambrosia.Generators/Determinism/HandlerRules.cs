using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Judges what only handlers may not do: await what the log does not complete, call as one does from outside, call dynamically.
/// </summary>
internal static class HandlerRules
{
    private const string AwaitRule = "AMB105", DynamicRule = "AMB108", LoopRule = "AMB126", LoggedRule = "AMB123",
        AwaitMend = "a Call: …Async of a proxy, Delay(…), or NondetTask(…) around it, whose result is logged";

    internal static Fault? OfAwait(IAwaitOperation operation)
    {
        ITypeSymbol? type = operation.Operation.Type;
        if (type is null || type.TypeKind == TypeKind.Error || IsOurs(type)) return null;
        if (operation.Operation is IInvocationOperation { TargetMethod: { } called } && FrameworkList.Of(called) is not null) return null;
        return new Fault(AwaitRule, operation.Syntax.GetLocation(), $"await of a {Places.NameOf(type)}", AwaitMend);
    }

    /// <summary>Judges a method or function by itself: one that can be suspended returns a Call.</summary>
    internal static Fault? OfDeclaration(IMethodSymbol method, IOperation? body)
    {
        if (!method.IsAsync || ImmortalTypes.IsCall(method.ReturnType)) return null;
        if (body is null || body.DescendantsAndSelf().OfType<IAwaitOperation>().Any(static each => OfAwait(each) is not null)) return null;
        Location place = method.Locations.FirstOrDefault(static each => each.IsInSource) ?? body.Syntax.GetLocation();
        string type = method.ReturnsVoid ? "void" : Places.NameOf(method.ReturnType);
        return new Fault(AwaitRule, place, $"async {type} {Places.NameOf(method)}", "Call or Call<T> as the type that it returns");
    }

    internal static Fault? OfForEach(IForEachLoopOperation operation, ForEachStatementInfo info)
    {
        if (operation.IsAsynchronous)
            return info.MoveNextMethod is { } next && !IsOurs(next.ReturnType)
                ? new Fault(AwaitRule, operation.Collection.Syntax.GetLocation(),
                    $"await foreach over a {Places.NameOf(operation.Collection.Type!)}",
                    AwaitMend)
                : null;
        if (!operation.Body.DescendantsAndSelf().OfType<IAwaitOperation>().Any()) return null;
        ITypeSymbol? type = Unconverted(operation.Collection).Type;
        if (type is null or IArrayTypeSymbol || type.SpecialType == SpecialType.System_String
            || Symbols.IsIn(type, "System.Collections.Generic.List<T>", "System.Span<T>", "System.ReadOnlySpan<T>")) return null;
        return new Fault(LoopRule, operation.Collection.Syntax.GetLocation(), $"foreach with an await in it over a {Places.NameOf(type)}",
            "an array or a List, made before the loop: .ToArray(); a checkpoint cannot hold another enumerator");
    }

    internal static Fault? OfInvocation(IInvocationOperation operation)
    {
        IMethodSymbol method = operation.TargetMethod;
        return method.Name.EndsWith("Logged", System.StringComparison.Ordinal) && ImmortalTypes.IsSending(method)
            ? new Fault(LoggedRule, Places.Of(operation), $"{method.Name}, which is for input from outside,",
                "…Async, whose answer is awaited, or …Fork; threads that BecomingPrimary starts use …Logged")
            : null;
    }

    internal static Fault OfDynamic(IOperation operation) => new(
        DynamicRule, operation.Syntax.GetLocation(), "a dynamic call",
            "a type that is known when it is compiled, so that the call can be checked");

    /// <summary>Returns an expression without the conversions around it.</summary>
    internal static IOperation Unconverted(IOperation operation)
    {
        while (operation is IConversionOperation { OperatorMethod: null } conversion) operation = conversion.Operand;
        return operation;
    }

    private static bool IsOurs(ITypeSymbol type)
    {
        if (ImmortalTypes.IsCall(type)) return true;
        return type.GetMembers("GetAwaiter").OfType<IMethodSymbol>()
            .Any(static each => each.ReturnType.ContainingNamespace is { Name: Symbols.Namespace,
                ContainingNamespace.IsGlobalNamespace: true });
    }
}
