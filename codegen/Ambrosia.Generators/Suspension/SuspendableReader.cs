using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.State;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Suspension;

/// <summary>
/// Hashes the source of methods that can be suspended: their tokens without trivia, each name with what it binds to, each constant with its
/// value. The hash is the same for every compiler and configuration, so it tells a method whose IL differs only because of the compiler
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

    internal static bool IsCandidate(SyntaxNode node) =>
        node is MethodDeclarationSyntax method && method.Modifiers.Any(SyntaxKind.AsyncKeyword);

    internal static SuspendableModel? Read(GeneratorSyntaxContext context, CancellationToken cancel)
    {
        var syntax = (MethodDeclarationSyntax)context.Node;
        if (context.SemanticModel.GetDeclaredSymbol(syntax, cancel) is not { } method
            || !(Symbols.IsOurs(method.ReturnType, "Call") || Symbols.IsOurs(method.ReturnType, "Call", arity: 1))) return null;
        var text = new StringBuilder();
        var localTypes = new SortedSet<string>(StringComparer.Ordinal);
        string name = FormerBodies.NameOf(method) ?? syntax.Identifier.Text;
        foreach (SyntaxToken token in syntax.DescendantTokens())
            if (token == syntax.Identifier) text.Append(name).Append(' '); // a kept body has the hash that it had under its former name
            else Append(text, token, syntax, method.ContainingType, context.SemanticModel, localTypes, cancel);
        using SHA256 sha = SHA256.Create();
        string hash = string.Concat(
            sha.ComputeHash(Encoding.UTF8.GetBytes(text.ToString())).Take(HashBytes)
                .Select(static each => each.ToString("x2", CultureInfo.InvariantCulture)));
        return new SuspendableModel(MetadataNames.Of(method), hash, new(localTypes));
    }

    private static void Append(
        StringBuilder text, SyntaxToken token, MethodDeclarationSyntax syntax, INamedTypeSymbol self, SemanticModel model,
        ISet<string> localTypes, CancellationToken cancel)
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
        if (symbol is ILocalSymbol { Type: { } local }) StateReader.CollectReferenced(local, localTypes);
        if (symbol is IParameterSymbol { Type: { } parameter }) StateReader.CollectReferenced(parameter, localTypes);
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

    /// <summary>Writes a symbol. The type that declares the method has one name in every version of it: <c>$self</c>.</summary>
    private static string Show(ISymbol symbol, INamedTypeSymbol self) =>
        symbol.ToDisplayString(s_full).Replace(self.ToDisplayString(SymbolDisplayFormat.FullyQualifiedFormat), "$self");
}

/// <summary>It describes an async method that returns a Call, which can therefore be suspended in a checkpoint.</summary>
/// <param name="Id">The id, made of metadata names.</param>
/// <param name="Source">The hash of its source.</param>
/// <param name="LocalTypes">The definitions of which the types of its locals and parameters are made.</param>
internal sealed record SuspendableModel(string Id, string Source, EquatableArray<string> LocalTypes);

/// <summary>Generates the assembly's table of source hashes: an attribute for each method.</summary>
internal static class SuspendableSource
{
    internal static string Of(IEnumerable<SuspendableModel> methods)
    {
        var source = new StringBuilder("// <auto-generated/>\n");
        foreach (SuspendableModel method in methods.OrderBy(static each => each.Id, StringComparer.Ordinal))
            source.Append(
                $"[assembly: global::Ambrosia.SuspendableAttribute({SymbolDisplay.FormatLiteral(method.Id, true)}, \"{method.Source}\")]\n");
        return source.ToString();
    }
}
