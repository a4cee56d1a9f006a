using System.Collections.Immutable;
using Ambrosia.Generators.Determinism;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>Runs the analyzers over a source with what the generator makes of it, as a build does.</summary>
internal static class Analysis
{
    internal static ImmutableArray<DiagnosticAnalyzer> All { get; } = [.. typeof(DeterminismAnalyzer).Assembly.GetTypes()
        .Where(static type => !type.IsAbstract && typeof(DiagnosticAnalyzer).IsAssignableFrom(type))
        .OrderBy(static type => type.FullName, StringComparer.Ordinal)
        .Select(static type => (DiagnosticAnalyzer)Activator.CreateInstance(type)!)];

    /// <summary>Returns what the analyzers report, in the order of the source. The source itself must compile.</summary>
    internal static Diagnostic[] Of(string source, params MetadataReference[] references) => Of(Generation.Of(source, references));

    internal static Diagnostic[] Of(Generation generation, bool isInvariant = false)
    {
        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Output.GetDiagnostics().Where(static each => each.Severity == DiagnosticSeverity.Error
            && !each.IsWarningAsError));
        return Of(generation.Output, isInvariant);
    }

    /// <summary>Runs them as an editor does, and as a build does, which must be told the same.</summary>
    internal static Diagnostic[] Of(Compilation compilation, bool isInvariant = false)
    {
        AnalyzerOptions editor = new([], new BuildProperties(isInvariant)), build = new([]);
        Assert.Equal((false, true), (DeterminismAnalyzer.IsBuild(editor), DeterminismAnalyzer.IsBuild(build)));
        Diagnostic[] typed = Of(compilation, editor);
        if (!isInvariant) // the options that the compiler makes cannot be made here with a property in them
            Assert.Equal(typed.Select(static each => each.ToString()), Of(compilation, build).Select(static each => each.ToString()));
        return typed;
    }

    private static Diagnostic[] Of(Compilation compilation, AnalyzerOptions options)
    {
        ImmutableArray<Diagnostic> found = compilation.WithAnalyzers(All, options).GetAnalyzerDiagnosticsAsync().GetAwaiter().GetResult();
        return [.. found.OrderBy(static each => each.Location.SourceTree?.FilePath, StringComparer.Ordinal)
            .ThenBy(static each => each.Location.SourceSpan.Start).ThenBy(static each => each.Id, StringComparer.Ordinal)];
    }

    /// <summary>Returns the id and the text of the source at each diagnostic.</summary>
    internal static string[] Marks(IEnumerable<Diagnostic> diagnostics) =>
        [.. diagnostics.Select(static each => $"{each.Id} {TextAt(each)}")];

    internal static string TextAt(Diagnostic diagnostic) =>
        diagnostic.Location.SourceTree!.ToString().Substring(diagnostic.Location.SourceSpan.Start, diagnostic.Location.SourceSpan.Length);

    /// <summary>It gives the properties of the project that a build shows to analyzers.</summary>
    private sealed class BuildProperties(bool isInvariant) : AnalyzerConfigOptionsProvider
    {
        public override AnalyzerConfigOptions GlobalOptions { get; } = new Values(isInvariant);

        public override AnalyzerConfigOptions GetOptions(SyntaxTree tree) => new Values(isInvariant);

        public override AnalyzerConfigOptions GetOptions(AdditionalText textFile) => new Values(isInvariant);

        private sealed class Values(bool isInvariant) : AnalyzerConfigOptions
        {
            public override bool TryGetValue(string key, out string value)
            {
                value = isInvariant && key == "build_property.InvariantGlobalization" ? "true" : "";
                return value.Length > 0;
            }
        }
    }
}
