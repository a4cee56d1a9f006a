using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators;

/// <summary>Reads an interface as a contract. What it refuses is left out of the model and reported.</summary>
internal static class ContractReader
{
    internal static Found<ContractModel> Read(INamedTypeSymbol contract, CancellationToken cancel)
    {
        var diagnostics = new List<DiagnosticInfo>();
        if (contract.ContainingType is not null)
        {
            diagnostics.Add(DiagnosticInfo.Of(Rules.Nested, contract, contract.Name, contract.ContainingType.Name));
            return new Found<ContractModel>(null, new(diagnostics));
        }
        if (contract.IsGenericType)
        {
            diagnostics.Add(DiagnosticInfo.Of(Rules.Generic, contract, contract.Name));
            return new Found<ContractModel>(null, new(diagnostics));
        }
        var methods = new List<MethodModel>();
        foreach (INamedTypeSymbol declaring in new[] { contract }.Concat(contract.AllInterfaces))
        {
            foreach (ISymbol member in declaring.GetMembers())
            {
                cancel.ThrowIfCancellationRequested();
                if (ReadMember(member, diagnostics) is not { } method) continue;
                if (CheckUnique(contract, member, method, methods, diagnostics)) methods.Add(method);
            }
        }
        var model = new ContractModel(Symbols.NamespaceOf(contract), contract.Name, Symbols.AccessOf(contract), new(methods));
        return new Found<ContractModel>(model, new(diagnostics));
    }

    private static MethodModel? ReadMember(ISymbol member, List<DiagnosticInfo> diagnostics)
    {
        if (member is IMethodSymbol { AssociatedSymbol: not null } or INamedTypeSymbol) return null;
        if (member is not IMethodSymbol { MethodKind: MethodKind.Ordinary, IsStatic: false } method)
        {
            string what = member is IMethodSymbol ? "static method" : member.Kind.ToString().ToLowerInvariant();
            diagnostics.Add(DiagnosticInfo.Of(Rules.NotAMethod, member, Display(member), what));
            return null;
        }
        if (method.IsGenericMethod)
        {
            diagnostics.Add(DiagnosticInfo.Of(Rules.Generic, method, Display(method)));
            return null;
        }
        if (ReadParameters(method, diagnostics) is not { } parameters
            || !ReadResult(method, diagnostics, out Returning returning, out TypeModel? result)) return null;
        bool impulse = Symbols.Attribute(method, "ImpulseHandlerAttribute") is not null;
        if (impulse && result is not null)
        {
            diagnostics.Add(DiagnosticInfo.Of(Rules.ImpulseResult, method, Display(method)));
            return null;
        }
        bool query = Symbols.Attribute(method, "QueryAttribute") is not null;
        if (query && WhyNoQuery(method, impulse, returning) is { } why)
        {
            diagnostics.Add(DiagnosticInfo.Of(Rules.Query, method, Display(method), why));
            return null;
        }
        return new MethodModel(Symbols.Identifier(method.Name), Symbols.FullName(method.ContainingType), IdOf(method, diagnostics), impulse,
            query, returning, result, new(parameters));
    }

    /// <summary>
    /// It is answered at once, out of the state as it is: so its result is a value, and never a Call that an async body would need.
    /// </summary>
    private static string? WhyNoQuery(IMethodSymbol method, bool impulse, Returning returning) =>
        impulse ? "is an impulse handler"
        : returning == Returning.Nothing ? "returns nothing"
        : returning != Returning.Value
            ? $"returns {method.ReturnType.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)}, which may wait"
        : null;

    private static List<ParameterModel>? ReadParameters(IMethodSymbol method, List<DiagnosticInfo> diagnostics)
    {
        var parameters = new List<ParameterModel>();
        foreach (IParameterSymbol parameter in method.Parameters)
        {
            if (parameter.RefKind != RefKind.None)
                diagnostics.Add(DiagnosticInfo.Of(Rules.ByReference, parameter, Display(method), parameter.Name));
            else if (TypeReader.Read(parameter.Type) is { } type)
                parameters.Add(new ParameterModel(Symbols.Identifier(parameter.Name), type, Defaults.Of(parameter)));
            else
                diagnostics.Add(
                    DiagnosticInfo.Of(Rules.Parameter, parameter, Display(method), parameter.Name, parameter.Type.ToDisplayString()));
        }
        return parameters.Count == method.Parameters.Length ? parameters : null;
    }

    private static bool ReadResult(IMethodSymbol method, List<DiagnosticInfo> diagnostics, out Returning returning, out TypeModel? result)
    {
        ITypeSymbol type = method.ReturnType;
        result = null;
        returning = Returning.Nothing;
        if (method.ReturnsVoid) return true;
        if (Symbols.IsOurs(type, "Call"))
        {
            returning = Returning.Call;
            return true;
        }
        if (Symbols.IsIn(type, "System.Threading.Tasks.Task", "System.Threading.Tasks.Task<TResult>", "System.Threading.Tasks.ValueTask",
            "System.Threading.Tasks.ValueTask<TResult>"))
        {
            diagnostics.Add(
                DiagnosticInfo.Of(Rules.Task, method, Display(method), type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)));
            return false;
        }
        returning = Symbols.IsOurs(type, "Call", arity: 1) ? Returning.CallOfValue : Returning.Value;
        ITypeSymbol value = returning == Returning.Value ? type : ((INamedTypeSymbol)type).TypeArguments[0];
        result = method.ReturnsByRef || method.ReturnsByRefReadonly ? null : TypeReader.Read(value);
        if (result is not null && result.Shape != Shape.ByteSpan) return true;
        diagnostics.Add(DiagnosticInfo.Of(Rules.Result, method, Display(method), value.ToDisplayString()));
        return false;
    }

    private static bool CheckUnique(
        INamedTypeSymbol contract, ISymbol member, MethodModel method, List<MethodModel> others, List<DiagnosticInfo> diagnostics)
    {
        if (others.Any(other => other.Name == method.Name))
        {
            diagnostics.Add(DiagnosticInfo.Of(Rules.Overload, member, contract.Name, member.Name));
            return false;
        }
        if (others.FirstOrDefault(other => other.Id == method.Id) is not { } same) return true;
        diagnostics.Add(DiagnosticInfo.Of(Rules.Id, member, Display(member), method.Id.ToString("X"), $"which {same.Name} has"));
        return false;
    }

    /// <summary>P4.5: the given id, or the FNV-1a hash of the simple names with the top bit set.</summary>
    private static uint IdOf(IMethodSymbol method, List<DiagnosticInfo> diagnostics)
    {
        if (Symbols.Attribute(method, "MethodIdAttribute") is { ConstructorArguments.Length: 1 } given
            && given.ConstructorArguments[0].Value is int id)
        {
            if (id < 1) diagnostics.Add(DiagnosticInfo.Of(Rules.Id, method, Display(method), id.ToString("X"), "which is out of range"));
            return (uint)id;
        }
        return Fnv.Hash32($"{method.ContainingType.Name}.{method.Name}") | 0x80000000;
    }

    private static string Display(ISymbol member) => $"{member.ContainingType.Name}.{member.Name}";
}
