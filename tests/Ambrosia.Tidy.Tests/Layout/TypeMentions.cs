using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>
/// Reads from a source the names that can only be names of types, or that most likely are. Comments, documentation and the names of members
/// do not count. A property may have the name of its type: where a source declares both, <c>Name.Member</c> speaks of the property.
/// </summary>
internal static class TypeMentions
{
    /// <summary>A name of a type as it is written.</summary>
    /// <param name="Name">Without type arguments.</param>
    /// <param name="Arity">How many type arguments it has.</param>
    /// <param name="Qualifier">The last name before it and its dot; null when nothing stands before it.</param>
    internal readonly record struct Mention(string Name, int Arity, string? Qualifier);

    public static IReadOnlySet<Mention> In(CompilationUnitSyntax source)
    {
        HashSet<string> members = [.. NamesOfMembers(source)];
        var mentions = new HashSet<Mention>();
        foreach (SimpleNameSyntax name in source.DescendantNodes(static node => node is not BaseNamespaceDeclarationSyntax)
            .Concat(source.Members.OfType<BaseNamespaceDeclarationSyntax>()
                .SelectMany(static space => space.Members.SelectMany(static member => member.DescendantNodes())))
            .OfType<SimpleNameSyntax>())
        {
            if (!CanBeType(name, members)) continue;
            string? qualifier = QualifierOf(name);
            int arity = name is GenericNameSyntax generic ? generic.TypeArgumentList.Arguments.Count : 0;
            mentions.Add(new Mention(name.Identifier.Text, arity, qualifier));
            if (name.Parent is AttributeSyntax) mentions.Add(new Mention($"{name.Identifier.Text}Attribute", arity, qualifier));
        }

        return mentions;
    }

    private static IEnumerable<string> NamesOfMembers(SyntaxNode source) => source.DescendantNodes().Select(static node => node switch
    {
        PropertyDeclarationSyntax property => property.Identifier.Text,
        VariableDeclaratorSyntax variable => variable.Identifier.Text,
        EnumMemberDeclarationSyntax member => member.Identifier.Text,
        ParameterSyntax { Parent.Parent: RecordDeclarationSyntax } parameter => parameter.Identifier.Text,
        _ => "",
    });

    private static bool CanBeType(SimpleNameSyntax name, HashSet<string> members) => name.Parent switch
    {
        UsingDirectiveSyntax => false,
        QualifiedNameSyntax qualified when qualified.Ancestors().OfType<UsingDirectiveSyntax>().Any() =>
            qualified.Ancestors().OfType<UsingDirectiveSyntax>().Any(static use => use.Alias is not null || use.StaticKeyword != default),
        QualifiedNameSyntax or AliasQualifiedNameSyntax or AttributeSyntax or ConstantPatternSyntax or NameMemberCrefSyntax => true,
        NameColonSyntax or NameEqualsSyntax or MemberBindingExpressionSyntax => false,
        MemberAccessExpressionSyntax access when access.Name == name =>
            access.Expression is SimpleNameSyntax or MemberAccessExpressionSyntax,
        MemberAccessExpressionSyntax => !members.Contains(name.Identifier.Text),
        ArgumentSyntax { Parent.Parent: InvocationExpressionSyntax { Expression: IdentifierNameSyntax { Identifier.Text: "nameof" } } } =>
            !members.Contains(name.Identifier.Text),
        BinaryExpressionSyntax binary when binary.IsKind(SyntaxKind.IsExpression) || binary.IsKind(SyntaxKind.AsExpression) =>
            binary.Right == name,
        _ => SyntaxFacts.IsInTypeOnlyContext(name),
    };

    private static string? QualifierOf(SimpleNameSyntax name) => name.Parent switch
    {
        QualifiedNameSyntax qualified when qualified.Right == name => LastOf(qualified.Left),
        AliasQualifiedNameSyntax alias when alias.Name == name => "",
        MemberAccessExpressionSyntax access when access.Name == name => LastOf(access.Expression),
        _ => null,
    };

    private static string LastOf(ExpressionSyntax qualifier) => qualifier switch
    {
        SimpleNameSyntax simple => simple.Identifier.Text,
        QualifiedNameSyntax qualified => qualified.Right.Identifier.Text,
        MemberAccessExpressionSyntax access => access.Name.Identifier.Text,
        _ => "",
    };
}
