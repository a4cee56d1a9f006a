using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators;

/// <summary>
/// Parameters of a primary constructor that methods of the type use: the compiler keeps them in fields that no symbol tells of. What initializers and the
/// base's arguments use is not kept.
/// </summary>
internal static class CapturedParameters
{
    /// <summary>In the order of the parameters.</summary>
    internal static IEnumerable<IParameterSymbol> Of(INamedTypeSymbol type, Compilation compilation, CancellationToken cancel)
    {
        TypeDeclarationSyntax[] parts = [.. type.DeclaringSyntaxReferences.Select(each => each.GetSyntax(cancel)).OfType<TypeDeclarationSyntax>()];
        if (parts.FirstOrDefault(static each => each.ParameterList is { Parameters.Count: > 0 }) is not { ParameterList: { } list }) return [];
        var names = new HashSet<string>(list.Parameters.Select(static each => each.Identifier.ValueText));
        var captured = new HashSet<IParameterSymbol>(SymbolEqualityComparer.Default);
        foreach (TypeDeclarationSyntax part in parts)
        {
            SemanticModel? model = null;
            foreach (IdentifierNameSyntax name in part.Members.SelectMany(static member => member.DescendantNodes(IsNoInitializer)).OfType<IdentifierNameSyntax>())
            {
                if (!names.Contains(name.Identifier.ValueText)) continue;
                model ??= compilation.GetSemanticModel(part.SyntaxTree);
                if (model.GetSymbolInfo(name, cancel).Symbol is IParameterSymbol { ContainingSymbol: IMethodSymbol { MethodKind: MethodKind.Constructor } constructor } parameter
                    && SymbolEqualityComparer.Default.Equals(constructor.ContainingType, type)) captured.Add(parameter);
            }
        }
        return captured.OrderBy(static each => each.Ordinal);
    }

    private static bool IsNoInitializer(SyntaxNode node) =>
        node is not BaseTypeDeclarationSyntax
        && !(node is EqualsValueClauseSyntax { Parent: PropertyDeclarationSyntax } or EqualsValueClauseSyntax { Parent.Parent.Parent: BaseFieldDeclarationSyntax });
}
