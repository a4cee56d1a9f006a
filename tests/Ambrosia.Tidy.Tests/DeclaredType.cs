using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests;

/// <summary>A type as a source declares it: a class, struct, interface, record, enum or delegate.</summary>
/// <param name="Name">Its name without type parameters.</param>
/// <param name="Arity">How many type parameters it has.</param>
/// <param name="Syntax">The declaration; a partial type has several.</param>
internal sealed record DeclaredType(string Name, int Arity, MemberDeclarationSyntax Syntax)
{
    public bool IsPublic => Syntax.Modifiers.Any(SyntaxKind.PublicKeyword);

    /// <summary>The namespace around it; empty for a type without one.</summary>
    public string Namespace =>
        string.Join('.', Syntax.Ancestors().OfType<BaseNamespaceDeclarationSyntax>().Reverse().Select(static space => space.Name));

    /// <summary>How users write it: <c>Name&lt;T&gt;</c>.</summary>
    public string Display => Name + TypeParameters?.ToString().Replace(" ", "", StringComparison.Ordinal);

    private TypeParameterListSyntax? TypeParameters => ParametersOf(Syntax);

    public static DeclaredType Of(MemberDeclarationSyntax syntax) => new(
        syntax is DelegateDeclarationSyntax @delegate ? @delegate.Identifier.Text : ((BaseTypeDeclarationSyntax)syntax).Identifier.Text,
        ParametersOf(syntax)?.Parameters.Count ?? 0,
        syntax);

    private static TypeParameterListSyntax? ParametersOf(MemberDeclarationSyntax syntax) => syntax switch
    {
        TypeDeclarationSyntax type => type.TypeParameterList,
        DelegateDeclarationSyntax @delegate => @delegate.TypeParameterList,
        _ => null,
    };
}
