using System.Threading;
using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Diagnostics;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Proxies;

/// <summary>
/// Finds the contracts that this compilation calls from outside: those of <c>client.GetProxy&lt;IFoo&gt;()</c> of an ImmortalClient, and
/// wherever <c>ClientProxy&lt;IFoo&gt;</c> is named, as a parameter that a container fills. IFoo may be declared in any assembly.
/// </summary>
internal static class ClientUseReader
{
    private const string Proxy = "ClientProxy", Registration = "AddImmortalClient";

    internal static bool IsCandidate(SyntaxNode node) =>
        node is GenericNameSyntax { Identifier.ValueText: "GetProxy" or Proxy or Registration, TypeArgumentList.Arguments.Count: 1 };

    internal static ReadResult<ContractModel>? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        var name = (GenericNameSyntax)context.Node;
        bool isMeant = name.Identifier.ValueText == "GetProxy"
            ? IsOfClient(context.SemanticModel, name, cancel) : IsProxyOrItsRegistration(context.SemanticModel, name, cancel);
        if (!isMeant) return null;
        return context.SemanticModel.GetTypeInfo(name.TypeArgumentList.Arguments[0], cancel)
            .Type is INamedTypeSymbol { TypeKind: TypeKind.Interface } contract
            ? ContractReader.Read(contract, cancel)
            : null;
    }

    /// <summary>Tells whether it is the proxy's type, or a method of ours that registers one.</summary>
    private static bool IsProxyOrItsRegistration(SemanticModel model, GenericNameSyntax name, CancellationToken cancel)
    {
        SymbolInfo found = model.GetSymbolInfo(name, cancel);
        ISymbol? symbol = found.Symbol ?? (found.CandidateSymbols.Length > 0 ? found.CandidateSymbols[0] : null);
        INamespaceSymbol? space = (symbol as INamedTypeSymbol ?? symbol?.ContainingType)?.ContainingNamespace;
        return space is { ContainingNamespace: { Name: Symbols.Namespace, ContainingNamespace.IsGlobalNamespace: true } }
            && space.Name == (symbol is INamedTypeSymbol ? "Client" : "Hosting");
    }

    /// <summary>Tells whether the GetProxy that is called is that of a client outside, and not an immortal's.</summary>
    internal static bool IsOfClient(SemanticModel model, GenericNameSyntax name, CancellationToken cancel)
    {
        SymbolInfo found = model.GetSymbolInfo(name, cancel);
        ISymbol? method = found.Symbol ?? (found.CandidateSymbols.Length > 0 ? found.CandidateSymbols[0] : null);
        return method?.ContainingType is { Name: "ImmortalClient",
            ContainingNamespace: { Name: "Client",
                ContainingNamespace: { Name: Symbols.Namespace, ContainingNamespace.IsGlobalNamespace: true } } };
    }
}

/// <summary>
/// Finds contracts of this compilation by their use: <c>GetProxy&lt;IFoo&gt;</c>, or the name IFooProxy where a type stands. So an
/// interface needs no attribute to be called.
/// </summary>
internal static class ProxyUseReader
{
    private const string Suffix = "Proxy";

    internal static bool IsCandidate(SyntaxNode node) => node switch
    {
        GenericNameSyntax { Identifier.ValueText: "GetProxy", TypeArgumentList.Arguments.Count: 1 } => true,
        IdentifierNameSyntax name =>
            IsProxyName(name.Identifier.ValueText) && name.Parent is not (MemberAccessExpressionSyntax or InvocationExpressionSyntax),
        _ => false,
    };

    internal static ReadResult<ContractModel>? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        if (context.Node is GenericNameSyntax called && ClientUseReader.IsOfClient(context.SemanticModel, called, cancel)) return null;
        INamedTypeSymbol? contract = context.Node is GenericNameSyntax generic
            ? context.SemanticModel.GetTypeInfo(generic.TypeArgumentList.Arguments[0], cancel).Type as INamedTypeSymbol
            : OfProxyName(context.SemanticModel, (IdentifierNameSyntax)context.Node, cancel);
        if (contract is not { TypeKind: TypeKind.Interface }) return null;
        if (!SymbolEqualityComparer.Default.Equals(contract.ContainingAssembly, context.SemanticModel.Compilation.Assembly)) return null;
        return ContractReader.Read(contract, cancel);
    }

    private static bool IsProxyName(string name) =>
        name.Length > Suffix.Length + 1 && name[0] == 'I' && char.IsUpper(name[1])
        && name.EndsWith(Suffix, System.StringComparison.Ordinal);

    private static INamedTypeSymbol? OfProxyName(SemanticModel model, IdentifierNameSyntax name, CancellationToken cancel)
    {
        // The type exists: it was generated in a referenced assembly, or is somebody's own class.
        if (model.GetSymbolInfo(name, cancel).Symbol is { } existing && existing is not IErrorTypeSymbol) return null;
        string text = name.Identifier.ValueText;
        SimpleNameSyntax contract = SyntaxFactory.IdentifierName(text.Substring(0, text.Length - Suffix.Length));
        ExpressionSyntax whole = name.Parent is QualifiedNameSyntax qualified && qualified.Right == name
            ? qualified.WithRight(contract) : contract;
        return model.GetSpeculativeSymbolInfo(name.SpanStart, whole, SpeculativeBindingOption.BindAsTypeOrNamespace)
            .Symbol as INamedTypeSymbol;
    }
}
