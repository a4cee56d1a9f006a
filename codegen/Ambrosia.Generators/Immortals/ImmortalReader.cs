using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Diagnostics;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Immortals;

/// <summary>
/// Reads a class that derives from <c>Immortal&lt;IFoo&gt;</c> or <c>Immortal&lt;IFooProxy&gt;</c>, itself or by a class of the app's own.
/// While the generator runs, the proxy does not exist yet, so the contract is found by name: it is the interface IFoo among those that the
/// class implements.
/// </summary>
internal static class ImmortalReader
{
    internal static bool IsCandidate(SyntaxNode node) =>
        node is ClassDeclarationSyntax { BaseList: not null };

    internal static ReadResult<ImmortalModel>? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        var declaration = (ClassDeclarationSyntax)context.Node;
        if (context.SemanticModel.GetDeclaredSymbol(declaration, cancel) is not { } type) return null;
        if (type.IsAbstract || BaseOf(type) is not { } parent) return null; // an abstract one is there for others to derive from
        string proxy = parent.TypeArguments[0].Name;

        if (!IsPartial(declaration))
            return Refused(DiagnosticInfo.Of(DiagnosticRules.NotPartial, declaration.Identifier.GetLocation(), type.Name));
        if (WhyNotMakeable(type) is { } why)
            return Refused(DiagnosticInfo.Of(DiagnosticRules.CannotMake, declaration.Identifier.GetLocation(), type.Name, why));
        if (ContractOf(type, proxy) is not { } contract)
            return Refused(
                DiagnosticInfo.Of(DiagnosticRules.NoContract, declaration.Identifier.GetLocation(), type.Name, proxy, ContractName(proxy)));
        if (IsUnmade(parent.TypeArguments[0], contract, context.SemanticModel.Compilation)
            && !SymbolEqualityComparer.Default.Equals(contract.ContainingAssembly, context.SemanticModel.Compilation.Assembly))
            return Refused(
                DiagnosticInfo.Of(DiagnosticRules.NoProxy, declaration.Identifier.GetLocation(), contract.Name,
                    contract.ContainingAssembly.Name, contract.Name + "Proxy"));

        List<DiagnosticInfo> diagnostics = AsyncVoids(type, contract);
        // The contract's own diagnostics are reported where it is read as a contract.
        ContractModel? model = ContractReader.Read(contract, cancel).Model;
        if (model is null) return new ReadResult<ImmortalModel>(null, new(diagnostics));
        return new ReadResult<ImmortalModel>(
            new ImmortalModel(
                Symbols.NamespaceOf(type), new(Symbols.ContainingDeclarations(type)), Symbols.Identifier(type.Name),
                SelfAccess(type), model),
            new(diagnostics));
    }

    /// <summary>Reads the contract of such a class, if it is declared in this compilation.</summary>
    internal static ReadResult<ContractModel>? ReadContract(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        if (context.SemanticModel.GetDeclaredSymbol((ClassDeclarationSyntax)context.Node, cancel) is not { } type) return null;
        if (BaseOf(type) is not { } parent) return null;
        return ContractOf(type, parent.TypeArguments[0].Name) is { } contract
            && SymbolEqualityComparer.Default.Equals(contract.ContainingAssembly, context.SemanticModel.Compilation.Assembly)
            ? ContractReader.Read(contract, cancel)
            : null;
    }

    private static ReadResult<ImmortalModel> Refused(DiagnosticInfo why) => new(null, new([why]));

    /// <summary>Returns the Immortal&lt;…&gt; from which a class derives; null: it is none.</summary>
    private static INamedTypeSymbol? BaseOf(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type.BaseType; at is not null; at = at.BaseType)
            if (Symbols.IsOurs(at, "Immortal", arity: 1)) return at;
        return null;
    }

    /// <summary>Says how far the generated thisProxy is seen; empty: an immortal from which the class derives has it.</summary>
    private static string SelfAccess(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol at = type.BaseType!; !Symbols.IsOurs(at, "Immortal", arity: 1); at = at.BaseType!)
            if (!at.IsAbstract) return "";
        return type.IsSealed ? "private" : "protected";
    }

    /// <summary>Tells whether the proxy of the contract was not generated where the contract is declared.</summary>
    private static bool IsUnmade(ITypeSymbol named, INamedTypeSymbol contract, Compilation compilation) =>
        named.TypeKind == TypeKind.Error || (SymbolEqualityComparer.Default.Equals(named, contract)
            && compilation.GetTypeByMetadataName(Full(contract) + "Proxy") is null);

    private static string Full(INamedTypeSymbol contract) =>
        Symbols.NamespaceOf(contract) is { Length: > 0 } space ? $"{space}.{contract.Name}" : contract.Name;

    private static INamedTypeSymbol? ContractOf(INamedTypeSymbol type, string proxy) =>
        type.AllInterfaces.FirstOrDefault(each => each.Name == proxy) ?? type.AllInterfaces.FirstOrDefault(
            each => each.Name == ContractName(proxy));

    private static string ContractName(string proxy) =>
        proxy.EndsWith("Proxy", System.StringComparison.Ordinal) ? proxy.Substring(0, proxy.Length - "Proxy".Length) : proxy;

    private static bool IsPartial(SyntaxNode declaration)
    {
        for (SyntaxNode? at = declaration; at is TypeDeclarationSyntax type; at = at.Parent)
            if (!type.Modifiers.Any(SyntaxKind.PartialKeyword)) return false;
        return true;
    }

    private static string? WhyNotMakeable(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.ContainingType)
            if (at.IsGenericType) return "is generic";
        return type.InstanceConstructors.Any(each => each.Parameters.Length == 0) ? null : "has no constructor without parameters";
    }

    /// <summary>Reports handlers that are async void: nobody would know when they end.</summary>
    private static List<DiagnosticInfo> AsyncVoids(INamedTypeSymbol type, INamedTypeSymbol contract)
    {
        var found = new List<DiagnosticInfo>();
        foreach (IMethodSymbol method in new[] { contract }.Concat(contract.AllInterfaces)
            .SelectMany(each => each.GetMembers().OfType<IMethodSymbol>()))
        {
            if (type.FindImplementationForInterfaceMember(method) is IMethodSymbol { IsAsync: true, ReturnsVoid: true } handler)
                found.Add(DiagnosticInfo.Of(DiagnosticRules.Task, handler, $"{type.Name}.{handler.Name}", "async void"));
        }
        return found;
    }
}

/// <summary>It describes the class of an immortal, for which dispatch is generated.</summary>
/// <param name="Containing">The declarations of the types around it, outermost first: <c>partial class Outer</c>.</param>
/// <param name="SelfAccess">How far its <c>thisProxy</c> is seen; empty: a base class of it has one.</param>
internal sealed record ImmortalModel(
    string Namespace, EquatableArray<string> Containing, string Name, string SelfAccess, ContractModel Contract)
{
    internal string FullName =>
        string.Join(".", new[] { Namespace, string.Join(".", Containing), Name }).Replace("partial class ", "").TrimStart('.');
}
