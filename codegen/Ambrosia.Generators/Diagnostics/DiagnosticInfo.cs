using System;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Generators.Diagnostics;

/// <summary>
/// A diagnostic as a value that can be compared. It holds no syntax tree, which would keep a whole compilation alive.
/// </summary>
internal sealed record DiagnosticInfo(string Id, string FilePath, TextSpan Span, LinePositionSpan Lines, EquatableArray<string> Arguments)
{
    internal static DiagnosticInfo Of(DiagnosticDescriptor rule, ISymbol at, params string[] arguments) =>
        Of(rule, at.Locations.FirstOrDefault(location => location.IsInSource), arguments);

    internal static DiagnosticInfo Of(DiagnosticDescriptor rule, Location? at, params string[] arguments) =>
        at?.SourceTree is { } tree
            ? new DiagnosticInfo(rule.Id, tree.FilePath, at.SourceSpan, at.GetLineSpan().Span, new EquatableArray<string>(arguments))
            : new DiagnosticInfo(rule.Id, "", default, default, new EquatableArray<string>(arguments));

    /// <summary>Makes the diagnostic that the compiler shows.</summary>
    internal Diagnostic ToDiagnostic() => Diagnostic.Create(
        DiagnosticRules.ById[Id], FilePath.Length == 0 ? Location.None : Location.Create(FilePath, Span, Lines),
        Arguments.ToArray<object>());
}

/// <summary>
/// It holds what a reader has made of a symbol: a model, diagnostics that say why there is none or why a part of it is missing, or both.
/// </summary>
internal sealed record ReadResult<T>(T? Model, EquatableArray<DiagnosticInfo> Diagnostics)
    where T : class, IEquatable<T>;
