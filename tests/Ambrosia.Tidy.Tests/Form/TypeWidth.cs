using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>Counts what the instances of a type hold, and what their constructors are given.</summary>
internal static class TypeWidth
{
    /// <summary>
    /// Instance fields, properties that the compiler stores, events, and parameters of the type's head that its members use. Constants and
    /// statics are nobody's state.
    /// </summary>
    public static int FieldsOf(TypeDeclarationSyntax type) =>
        type is InterfaceDeclarationSyntax ? 0 : type.Members.Sum(CountOf) + CountKept(type);

    /// <summary>The longest list of parameters among the constructors; the type's head is one of them.</summary>
    public static int ParametersOf(TypeDeclarationSyntax type) =>
        type.Members.OfType<ConstructorDeclarationSyntax>().Select(static constructor => constructor.ParameterList.Parameters.Count)
            .Append(type.ParameterList?.Parameters.Count ?? 0).Max();

    private static int CountOf(MemberDeclarationSyntax member) => member switch
    {
        _ when member.Modifiers.Any(SyntaxKind.StaticKeyword) || member.Modifiers.Any(SyntaxKind.ConstKeyword) => 0,
        BaseFieldDeclarationSyntax field => field.Declaration.Variables.Count,
        PropertyDeclarationSyntax property when !property.Modifiers.Any(SyntaxKind.AbstractKeyword) && IsStored(property) => 1,
        _ => 0,
    };

    private static bool IsStored(PropertyDeclarationSyntax property) =>
        property.AccessorList is { } accessors
        && (accessors.Accessors.Any(static accessor => accessor.Body is null && accessor.ExpressionBody is null)
            || accessors.DescendantNodes().Any(static node => node.IsKind(SyntaxKind.FieldExpression)));

    /// <summary>A record keeps all parameters of its head; another type those that its members use after construction.</summary>
    private static int CountKept(TypeDeclarationSyntax type)
    {
        if (type.ParameterList is not { } head) return 0;
        if (type is RecordDeclarationSyntax) return head.Parameters.Count;
        HashSet<string> used = [.. type.Members.Where(static member => member is not (BaseFieldDeclarationSyntax or TypeDeclarationSyntax))
            .SelectMany(UsesOf).OfType<IdentifierNameSyntax>().Select(static name => name.Identifier.Text)];
        return head.Parameters.Count(parameter => used.Contains(parameter.Identifier.Text));
    }

    /// <summary>Initializers run while the object is made and keep nothing.</summary>
    private static IEnumerable<SyntaxNode> UsesOf(MemberDeclarationSyntax member) =>
        member.DescendantNodes(node => node is not EqualsValueClauseSyntax || node.Parent is not PropertyDeclarationSyntax);
}
