using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Ambrosia.Generators.Diagnostics;
using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.Serialization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Contracts;

/// <summary>Reads an interface as a contract. Members that break a rule are left out of the model and reported.</summary>
internal static class ContractReader
{
    /// <summary>The beginning of the names of generated parameters and local variables, such as <c>__message</c>.</summary>
    private const string GeneratedNames = "__";

    /// <summary>The ids from here to 2³¹−1 are for what bindings say to one another (protocol P4.5).</summary>
    private const int FirstIdOfBindings = 0x7FFFFF00;

    internal static ReadResult<ContractModel> Read(INamedTypeSymbol contract, CancellationToken cancel)
    {
        var diagnostics = new List<DiagnosticInfo>();
        if (contract.ContainingType is not null)
        {
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Nested, contract, contract.Name, contract.ContainingType.Name));
            return new ReadResult<ContractModel>(null, new(diagnostics));
        }
        if (contract.IsGenericType)
        {
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Generic, contract, contract.Name));
            return new ReadResult<ContractModel>(null, new(diagnostics));
        }
        if (TypeInTheProxysPlace(contract) is { } other)
        {
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.TakenName, other, $"The type beside {contract.Name}", other.Name));
            return new ReadResult<ContractModel>(null, new(diagnostics));
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
        var model = new ContractModel(Symbols.NamespaceOf(contract), contract.Name, Symbols.AccessOf(contract), new(methods))
        {
            Failures = new(FailureReader.Read(contract, diagnostics)),
        };
        return new ReadResult<ContractModel>(model, new(diagnostics));
    }

    /// <summary>
    /// Returns the type of this compilation that has the name of the contract's proxy and cannot be a part of it, or null. A partial class
    /// of that name is welcome: it adds members to the proxy.
    /// </summary>
    private static INamedTypeSymbol? TypeInTheProxysPlace(INamedTypeSymbol contract) =>
        contract.ContainingNamespace.GetTypeMembers(contract.Name + "Proxy", arity: 0)
            .FirstOrDefault(static type => !type.DeclaringSyntaxReferences.IsEmpty && !type.DeclaringSyntaxReferences.All(IsPartialClass));

    private static bool IsPartialClass(SyntaxReference declaration) =>
        declaration.GetSyntax() is ClassDeclarationSyntax type && type.Modifiers.Any(SyntaxKind.PartialKeyword);

    private static MethodModel? ReadMember(ISymbol member, List<DiagnosticInfo> diagnostics)
    {
        if (member is IMethodSymbol { AssociatedSymbol: not null } or INamedTypeSymbol) return null;
        if (member is not IMethodSymbol { MethodKind: MethodKind.Ordinary, IsStatic: false } method)
        {
            string what = member is IMethodSymbol ? "static method" : member.Kind.ToString().ToLowerInvariant();
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.NotAMethod, member, Display(member), what));
            return null;
        }
        if (method.IsGenericMethod)
        {
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Generic, method, Display(method)));
            return null;
        }
        if (ReadParameters(method, diagnostics) is not { } parameters
            || !ReadResult(method, diagnostics, out ReturnKind returning, out TypeModel? result)) return null;
        bool impulse = Symbols.Attribute(method, "ImpulseHandlerAttribute") is not null;
        if (impulse && result is not null)
        {
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.ImpulseResult, method, Display(method)));
            return null;
        }
        bool query = Symbols.Attribute(method, "QueryAttribute") is not null;
        if (query && WhyNoQuery(method, impulse, returning) is { } why)
        {
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Query, method, Display(method), why));
            return null;
        }
        return new MethodModel(Symbols.Identifier(method.Name), Symbols.FullName(method.ContainingType), IdOf(method, diagnostics), impulse,
            query, returning, result, new(parameters));
    }

    /// <summary>
    /// Says why a method cannot be a query, or returns null. A query is answered at once, out of the state as it is, so it returns a value
    /// and never a Call, which an async body would need.
    /// </summary>
    private static string? WhyNoQuery(IMethodSymbol method, bool impulse, ReturnKind returning) =>
        impulse ? "is an impulse handler"
        : returning == ReturnKind.Nothing ? "returns nothing"
        : returning != ReturnKind.Value
            ? $"returns {method.ReturnType.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)}, which may wait"
        : null;

    private static List<ParameterModel>? ReadParameters(IMethodSymbol method, List<DiagnosticInfo> diagnostics)
    {
        var parameters = new List<ParameterModel>();
        foreach (IParameterSymbol parameter in method.Parameters)
        {
            if (parameter.Name.StartsWith(GeneratedNames, StringComparison.Ordinal))
                diagnostics.Add(
                    DiagnosticInfo.Of(DiagnosticRules.TakenName, parameter, $"A parameter of {Display(method)}", parameter.Name));
            else if (parameter.RefKind != RefKind.None)
                diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.ByReference, parameter, Display(method), parameter.Name));
            else if (TypeReader.Read(parameter.Type) is { } type)
                parameters.Add(
                    new ParameterModel(Symbols.Identifier(parameter.Name), type, DefaultValues.Of(parameter),
                        DefaultEncoding.Of(parameter)));
            else
                diagnostics.Add(FaultOf(parameter, parameter.Type)
                    ?? DiagnosticInfo.Of(DiagnosticRules.Parameter, parameter, Display(method), parameter.Name,
                        parameter.Type.ToDisplayString(), BecauseOf(parameter.Type)));
        }
        return parameters.Count == method.Parameters.Length ? parameters : null;
    }

    private static bool ReadResult(IMethodSymbol method, List<DiagnosticInfo> diagnostics, out ReturnKind returning, out TypeModel? result)
    {
        ITypeSymbol type = method.ReturnType;
        result = null;
        returning = ReturnKind.Nothing;
        if (method.ReturnsVoid) return true;
        if (Symbols.IsOurs(type, "Call"))
        {
            returning = ReturnKind.Call;
            return true;
        }
        if (Symbols.IsIn(type, "System.Threading.Tasks.Task", "System.Threading.Tasks.Task<TResult>", "System.Threading.Tasks.ValueTask",
            "System.Threading.Tasks.ValueTask<TResult>"))
        {
            diagnostics.Add(
                DiagnosticInfo.Of(DiagnosticRules.Task, method, Display(method),
                    type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)));
            return false;
        }
        returning = Symbols.IsOurs(type, "Call", arity: 1) ? ReturnKind.CallOfValue : ReturnKind.Value;
        ITypeSymbol value = returning == ReturnKind.Value ? type : ((INamedTypeSymbol)type).TypeArguments[0];
        result = method.ReturnsByRef || method.ReturnsByRefReadonly ? null : TypeReader.Read(value);
        if (result is not null && result.Shape != Shape.ByteSpan) return true;
        diagnostics.Add(FaultOf(method, value)
            ?? DiagnosticInfo.Of(DiagnosticRules.Result, method, Display(method), value.ToDisplayString(), BecauseOf(value)));
        return false;
    }

    /// <summary>
    /// Says what is wrong with the union or the generic data that a type names; null where that is not why it cannot travel.
    /// </summary>
    private static DiagnosticInfo? FaultOf(ISymbol at, ITypeSymbol type) =>
        UnionReader.FaultIn(type) is { } fault ? DiagnosticInfo.Of(DiagnosticRules.Union, at, fault)
        : GenericData.FaultIn(type) is { } why ? DiagnosticInfo.Of(DiagnosticRules.TypeArgument, at, why)
        : null;

    /// <summary>Names what it is within a type that cannot travel; empty where that is the type itself.</summary>
    private static string BecauseOf(ITypeSymbol type) =>
        TypeReader.CulpritOf(type) is var culprit && SymbolEqualityComparer.Default.Equals(culprit, type) ? ""
            : $" because of {culprit.ToDisplayString()}";

    private static bool CheckUnique(
        INamedTypeSymbol contract, ISymbol member, MethodModel method, List<MethodModel> others, List<DiagnosticInfo> diagnostics)
    {
        if (others.Any(other => other.Name == method.Name))
        {
            diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Overload, member, contract.Name, member.Name));
            return false;
        }
        if (others.FirstOrDefault(other => other.Id == method.Id) is not { } same) return true;
        diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Id, member, Display(member), method.Id.ToString("X"), $"which {same.Name} has"));
        return false;
    }

    /// <summary>Returns the given id, or the FNV-1a hash of the simple names with the top bit set (P4.5).</summary>
    private static uint IdOf(IMethodSymbol method, List<DiagnosticInfo> diagnostics)
    {
        if (Symbols.Attribute(method, "MethodIdAttribute") is { ConstructorArguments.Length: 1 } given
            && given.ConstructorArguments[0].Value is int id)
        {
            string? why = id < 1 ? "which is out of range" : id >= FirstIdOfBindings ? "which is reserved for bindings" : null;
            if (why is not null) diagnostics.Add(DiagnosticInfo.Of(DiagnosticRules.Id, method, Display(method), id.ToString("X"), why));
            return (uint)id;
        }
        return FnvHash.Hash32($"{method.ContainingType.Name}.{method.Name}") | 0x80000000;
    }

    private static string Display(ISymbol member) => $"{member.ContainingType.Name}.{member.Name}";
}
