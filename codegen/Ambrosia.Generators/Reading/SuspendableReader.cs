using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators;

/// <summary>
/// Hashes the source of methods that can be suspended: tokens without trivia, each name with what it binds to, each constant with its
/// value. Equal for every compiler and configuration, so that a method whose IL differs only by the compiler can be told
/// from one that was edited.
/// </summary>
internal static class SuspendableReader
{
    private const int HashBytes = 16;

    private static readonly SymbolDisplayFormat s_full = SymbolDisplayFormat.FullyQualifiedFormat
        .WithMemberOptions(
            SymbolDisplayMemberOptions.IncludeParameters | SymbolDisplayMemberOptions.IncludeType
            | SymbolDisplayMemberOptions.IncludeContainingType)
        .WithParameterOptions(SymbolDisplayParameterOptions.IncludeType | SymbolDisplayParameterOptions.IncludeParamsRefOut);

    internal static bool Mentions(SyntaxNode node) =>
        node is MethodDeclarationSyntax method && method.Modifiers.Any(SyntaxKind.AsyncKeyword);

    internal static SuspendableModel? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        var syntax = (MethodDeclarationSyntax)context.Node;
        if (context.SemanticModel.GetDeclaredSymbol(syntax, cancel) is not { } method
            || !(Symbols.IsOurs(method.ReturnType, "Call") || Symbols.IsOurs(method.ReturnType, "Call", arity: 1))) return null;
        var text = new StringBuilder();
        var kept = new SortedSet<string>(StringComparer.Ordinal);
        foreach (SyntaxToken token in syntax.DescendantTokens())
            Append(text, token, syntax, method.ContainingType, context.SemanticModel, kept, cancel);
        using SHA256 sha = SHA256.Create();
        string hash = string.Concat(
            sha.ComputeHash(Encoding.UTF8.GetBytes(text.ToString())).Take(HashBytes)
                .Select(static each => each.ToString("x2", CultureInfo.InvariantCulture)));
        return new SuspendableModel(MetadataNames.Of(method), hash, new(kept));
    }

    private static void Append(
        StringBuilder text, SyntaxToken token, MethodDeclarationSyntax syntax, INamedTypeSymbol self, SemanticModel model,
        ISet<string> kept, CancellationToken cancel)
    {
        if (syntax.AttributeLists.Any(each => each.Span.Contains(token.Span))
            || (token.Parent == syntax && SyntaxFacts.IsAccessibilityModifier(token.Kind()))) return;
        text.Append(token.Text).Append(' ');
        ISymbol? symbol = token.Parent switch
        {
            SimpleNameSyntax name => model.GetSymbolInfo(name, cancel).Symbol,
            BinaryExpressionSyntax or PrefixUnaryExpressionSyntax or PostfixUnaryExpressionSyntax or AssignmentExpressionSyntax =>
                model.GetSymbolInfo(token.Parent, cancel).Symbol,
            _ => null,
        };
        if (symbol is ILocalSymbol { Type: { } local }) StateReader.Mention(local, kept);
        if (symbol is IParameterSymbol { Type: { } parameter }) StateReader.Mention(parameter, kept);
        if (symbol is not null) text.Append(Meaning(symbol, self)).Append(' ');
    }

    private static string Meaning(ISymbol symbol, INamedTypeSymbol self) => symbol switch
    {
        ILocalSymbol local => ":" + Show(local.Type, self),
        IParameterSymbol parameter => ":" + Show(parameter.Type, self),
        IFieldSymbol { HasConstantValue: true } constant => "=" + Convert.ToString(constant.ConstantValue, CultureInfo.InvariantCulture),
        IMethodSymbol method =>
            ":" + Show(method.OriginalDefinition, self) + string.Join(",", method.TypeArguments.Select(each => Show(each, self))),
        IFieldSymbol or IPropertySymbol or ITypeSymbol or IEventSymbol => ":" + Show(symbol, self),
        _ => "",
    };

    /// <summary>The type that the method stands in is named alike in every version of it.</summary>
    private static string Show(ISymbol symbol, INamedTypeSymbol self) =>
        symbol.ToDisplayString(s_full).Replace(self.ToDisplayString(SymbolDisplayFormat.FullyQualifiedFormat), "$self");
}
