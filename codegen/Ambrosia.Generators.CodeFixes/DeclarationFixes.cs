using System.Collections.Generic;
using System.Collections.Immutable;
using System.Composition;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.CodeFixes;

/// <summary>
/// Mends declarations that would lose a value: a member of a [Data] type gets a setter, a field that no checkpoint can hold is left out of
/// the state, and a kept body is private and names the method that is called. Editors call it on threads of their choice.
/// </summary>
[ExportCodeFixProvider(LanguageNames.CSharp), Shared]
public sealed class DeclarationFixes : CodeFixProvider
{
    private const string Unkept = "AMB131", Lost = "AMB132", Remade = "AMB134", LeaveOut = "Leave it out of the state: [NotState]",
        MakeAgain = "Leave it out of the state, and make it where it is needed",
        GiveSetter = "Give it a public setter: { get; set; }", Kept = "AMB128", MakePrivate = "Make it private", NameCalled = "Name the method that is called";

    public override ImmutableArray<string> FixableDiagnosticIds { get; } = [Unkept, Lost, Kept, Remade];

    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        SyntaxNode? root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        SemanticModel? model = await context.Document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        if (root is null || model is null) return;
        foreach (Diagnostic diagnostic in context.Diagnostics)
        {
            MemberDeclarationSyntax? member = root.FindNode(diagnostic.Location.SourceSpan).FirstAncestorOrSelf<MemberDeclarationSyntax>();
            if (diagnostic.Id is Unkept or Remade && MadeAgain(member, model) is { } remade)
            {
                context.RegisterCodeFix(
                    CodeAction.Create(MakeAgain, _ => Task.FromResult(context.Document.WithSyntaxRoot(root.ReplaceNode(member!, remade))),
                        $"{diagnostic.Id} {MakeAgain}"),
                    diagnostic);
                continue;
            }
            (SyntaxNode? mended, string title) = (diagnostic.Id, member) switch
            {
                (Unkept, FieldDeclarationSyntax or PropertyDeclarationSyntax) when !IsSetOnce(member) => (LeftOut(member), LeaveOut),
                (Lost, PropertyDeclarationSyntax property) => (WithSetter(property), GiveSetter),
                (Kept, MethodDeclarationSyntax method) when diagnostic.Properties.ContainsKey("Private") => (AsPrivate(method), MakePrivate),
                (Kept, MethodDeclarationSyntax method) when diagnostic.Properties.TryGetValue("Named", out string? name) =>
                    (Naming(method, name!), NameCalled),
                _ => ((SyntaxNode?)null, ""),
            };
            if (mended is null || member is null) continue;
            context.RegisterCodeFix(
                CodeAction.Create(title, _ => Task.FromResult(context.Document.WithSyntaxRoot(root.ReplaceNode(member, mended))),
                    $"{diagnostic.Id} {title}"),
                diagnostic);
        }
    }

    /// <summary>Says whether constructors alone set a field or property, which a restore does not run.</summary>
    private static bool IsSetOnce(MemberDeclarationSyntax member) => member switch
    {
        FieldDeclarationSyntax field => field.Modifiers.Any(SyntaxKind.ReadOnlyKeyword),
        PropertyDeclarationSyntax { AccessorList: { } accessors } =>
            accessors.Accessors.All(static each => each.Keyword.IsKind(SyntaxKind.GetKeyword)),
        _ => false,
    };

    /// <summary>
    /// Turns what its initializer makes into a property that makes it when it is asked for, over a field that is no state; null where there
    /// is no initializer, or others set it.
    /// </summary>
    private static MemberDeclarationSyntax[]? MadeAgain(MemberDeclarationSyntax? member, SemanticModel model)
    {
        (TypeSyntax type, SyntaxToken name, EqualsValueClauseSyntax? made) = member switch
        {
            FieldDeclarationSyntax { Declaration: { Variables.Count: 1 } field } =>
                (field.Type, field.Variables.First().Identifier, field.Variables.First().Initializer),
            PropertyDeclarationSyntax property => (property.Type, property.Identifier, property.Initializer),
            _ => (null!, default, null),
        };
        if (made is null || !IsSetOnce(member!)) return null;
        ITypeSymbol? symbol = model.GetTypeInfo(type).Type;
        bool isAnnotated = symbol is { IsValueType: true } || model.GetNullableContext(type.SpanStart).AnnotationsEnabled();
        string typeText = type.WithoutTrivia().ToString(), plain = typeText.TrimEnd('?');
        string kept = $"_{name.ValueText.TrimStart('_')}Made";
        string modifiers = string.Concat(member!.Modifiers.Where(static each => !each.IsKind(SyntaxKind.ReadOnlyKeyword))
            .Select(static each => each.Text + " "));
        string indent = member.GetLeadingTrivia().LastOrDefault(static each => each.IsKind(SyntaxKind.WhitespaceTrivia)).ToString();
        string attributes = string.Concat(member.AttributeLists.Where(static list => !list.ToString().Contains("NotState"))
            .Select(static list => list.WithoutTrivia() + " "));
        MemberDeclarationSyntax Parsed(string text) => SyntaxFactory.ParseMemberDeclaration(text)!;
        return
        [
            Parsed($"[NotState] private {plain}{(isAnnotated ? "?" : "")} {kept};").WithLeadingTrivia(member.GetLeadingTrivia())
                .WithTrailingTrivia(SyntaxFactory.ElasticLineFeed, SyntaxFactory.Whitespace(indent)),
            Parsed($"{attributes}{modifiers}{typeText} {name.Text} => {kept} ??= {made.Value.WithoutTrivia()};")
                .WithTrailingTrivia(member.GetTrailingTrivia()),
        ];
    }

    private static MemberDeclarationSyntax LeftOut(MemberDeclarationSyntax member)
    {
        AttributeListSyntax attribute = SyntaxFactory.AttributeList(SyntaxFactory.SingletonSeparatedList(
            SyntaxFactory.Attribute(SyntaxFactory.ParseName("NotState")))).WithTrailingTrivia(SyntaxFactory.Space);
        MemberDeclarationSyntax bare = member.WithoutLeadingTrivia();
        return bare.WithAttributeLists(bare.AttributeLists.Insert(0, attribute)).WithLeadingTrivia(member.GetLeadingTrivia());
    }

    private static MethodDeclarationSyntax AsPrivate(MethodDeclarationSyntax method)
    {
        bool isGiven = false;
        var modifiers = new List<SyntaxToken>();
        foreach (SyntaxToken each in method.Modifiers)
        {
            if (!SyntaxFacts.IsAccessibilityModifier(each.Kind())) modifiers.Add(each);
            else if (!isGiven) modifiers.Add(SyntaxFactory.Token(SyntaxKind.PrivateKeyword).WithTriviaFrom(each));
            isGiven |= SyntaxFacts.IsAccessibilityModifier(each.Kind());
        }
        return method.WithModifiers(SyntaxFactory.TokenList(modifiers));
    }

    private static MethodDeclarationSyntax Naming(MethodDeclarationSyntax method, string name)
    {
        AttributeArgumentSyntax argument = method.AttributeLists.SelectMany(static list => list.Attributes)
            .First(static each => each.Name.ToString().Contains("Formerly")).ArgumentList!.Arguments[0];
        return method.ReplaceNode(argument.Expression, SyntaxFactory.ParseExpression($"nameof({name})"));
    }

    private static SyntaxNode WithSetter(PropertyDeclarationSyntax property)
    {
        AccessorDeclarationSyntax Accessor(SyntaxKind kind) => SyntaxFactory.AccessorDeclaration(kind)
            .WithSemicolonToken(SyntaxFactory.Token(SyntaxKind.SemicolonToken)).WithLeadingTrivia(SyntaxFactory.Space);
        bool isInit = property.AccessorList?.Accessors.Any(static each => each.Keyword.IsKind(SyntaxKind.InitKeyword)) == true;
        AccessorListSyntax accessors = SyntaxFactory.AccessorList(SyntaxFactory.List(new[]
        {
            Accessor(SyntaxKind.GetAccessorDeclaration),
            Accessor(isInit ? SyntaxKind.InitAccessorDeclaration : SyntaxKind.SetAccessorDeclaration).WithTrailingTrivia(
                SyntaxFactory.Space),
        }));
        SyntaxTokenList modifiers = property.Modifiers;
        if (!modifiers.Any(SyntaxKind.PublicKeyword))
        {
            SyntaxTokenList others = SyntaxFactory.TokenList(modifiers.Where(static each => !SyntaxFacts.IsAccessibilityModifier(
                each.Kind())));
            modifiers = others.Insert(0, SyntaxFactory.Token(SyntaxKind.PublicKeyword).WithLeadingTrivia(
                property.GetLeadingTrivia()).WithTrailingTrivia(SyntaxFactory.Space));
            if (property.Modifiers.Count == 0) property = property.WithType(property.Type.WithoutLeadingTrivia());
        }
        return property.WithModifiers(modifiers).WithAccessorList(accessors.WithTriviaFrom(property.AccessorList!));
    }
}
