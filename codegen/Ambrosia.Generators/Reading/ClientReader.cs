using System.Threading;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators;

/// <summary>
/// Finds the contracts that this compilation calls from outside: <c>client.GetProxy&lt;IFoo&gt;()</c> of an ImmortalClient,
/// wherever IFoo is declared.
/// </summary>
internal static class ClientReader
{
    internal static bool Mentions(SyntaxNode node) =>
        node is GenericNameSyntax { Identifier.ValueText: "GetProxy", TypeArgumentList.Arguments.Count: 1 };

    internal static Found<ContractModel>? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        var name = (GenericNameSyntax)context.Node;
        if (!IsOfClient(context.SemanticModel, name, cancel)) return null;
        return context.SemanticModel.GetTypeInfo(name.TypeArgumentList.Arguments[0], cancel)
            .Type is INamedTypeSymbol { TypeKind: TypeKind.Interface } contract
            ? ContractReader.Read(contract, cancel)
            : null;
    }

    /// <summary>The GetProxy that is called is that of a caller outside, not an immortal's.</summary>
    internal static bool IsOfClient(SemanticModel model, GenericNameSyntax name, CancellationToken cancel)
    {
        SymbolInfo found = model.GetSymbolInfo(name, cancel);
        ISymbol? method = found.Symbol ?? (found.CandidateSymbols.Length > 0 ? found.CandidateSymbols[0] : null);
        return method?.ContainingType is { Name: "ImmortalClient",
            ContainingNamespace: { Name: "Client",
                ContainingNamespace: { Name: Symbols.Namespace, ContainingNamespace.IsGlobalNamespace: true } } };
    }
}
