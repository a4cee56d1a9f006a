using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Generators;

/// <summary>A diagnostic as a value: it holds no syntax tree, which would keep whole compilations alive.</summary>
internal sealed record DiagnosticInfo(string Id, string FilePath, TextSpan Span, LinePositionSpan Lines, EquatableArray<string> Arguments)
{
    internal static DiagnosticInfo Of(DiagnosticDescriptor rule, ISymbol at, params string[] arguments) =>
        Of(rule, at.Locations.FirstOrDefault(location => location.IsInSource), arguments);

    internal static DiagnosticInfo Of(DiagnosticDescriptor rule, Location? at, params string[] arguments) =>
        at?.SourceTree is { } tree
            ? new DiagnosticInfo(rule.Id, tree.FilePath, at.SourceSpan, at.GetLineSpan().Span, new EquatableArray<string>(arguments))
            : new DiagnosticInfo(rule.Id, "", default, default, new EquatableArray<string>(arguments));

    internal Diagnostic ToDiagnostic() => Diagnostic.Create(
        Rules.ById[Id], FilePath.Length == 0 ? Location.None : Location.Create(FilePath, Span, Lines), Arguments.ToArray<object>());
}
