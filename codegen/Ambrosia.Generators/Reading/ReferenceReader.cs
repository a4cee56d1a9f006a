using System.Threading;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators;

/// <summary>
/// Finds contracts by their use: <c>GetProxy&lt;IFoo&gt;</c>, or the name IFooProxy where a type stands. So an interface of this
/// compilation needs no mark to be called.
/// </summary>
internal static class ReferenceReader
{
    private const string Suffix = "Proxy";

    internal static bool Mentions(SyntaxNode node) => node switch
    {
        GenericNameSyntax { Identifier.ValueText: "GetProxy", TypeArgumentList.Arguments.Count: 1 } => true,
        IdentifierNameSyntax name =>
            IsProxyName(name.Identifier.ValueText) && name.Parent is not (MemberAccessExpressionSyntax or InvocationExpressionSyntax),
        _ => false,
    };

    internal static Found<ContractModel>? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        if (context.Node is GenericNameSyntax called && ClientReader.IsOfClient(context.SemanticModel, called, cancel)) return null;
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
        // It exists: generated in a referenced assembly, or somebody's own class.
        if (model.GetSymbolInfo(name, cancel).Symbol is { } existing && existing is not IErrorTypeSymbol) return null;
        string text = name.Identifier.ValueText;
        SimpleNameSyntax contract = SyntaxFactory.IdentifierName(text.Substring(0, text.Length - Suffix.Length));
        ExpressionSyntax whole = name.Parent is QualifiedNameSyntax qualified && qualified.Right == name
            ? qualified.WithRight(contract) : contract;
        return model.GetSpeculativeSymbolInfo(name.SpanStart, whole, SpeculativeBindingOption.BindAsTypeOrNamespace)
            .Symbol as INamedTypeSymbol;
    }
}
