using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
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

    /// <summary>Runs them as a build does, and as an editor does, which must be told the same.</summary>
    internal static Diagnostic[] Of(Compilation compilation, bool isInvariant = false)
    {
        Diagnostic[] built = Of(compilation, isInvariant, "");
        Assert.Equal(built.Select(static each => each.ToString()), Of(compilation, isInvariant, "true").Select(static each => each.ToString()));
        return built;
    }

    private static Diagnostic[] Of(Compilation compilation, bool isInvariant, string designTime)
    {
        var options = new AnalyzerOptions([], new BuildProperties(new()
        {
            ["build_property.InvariantGlobalization"] = isInvariant ? "true" : "", ["build_property.DesignTimeBuild"] = designTime,
        }));
        ImmutableArray<Diagnostic> found = compilation.WithAnalyzers(All, options).GetAnalyzerDiagnosticsAsync().GetAwaiter().GetResult();
        return [.. found.OrderBy(static each => each.Location.SourceTree?.FilePath, StringComparer.Ordinal)
            .ThenBy(static each => each.Location.SourceSpan.Start).ThenBy(static each => each.Id, StringComparer.Ordinal)];
    }

    /// <summary>Returns the id and the text of the source at each diagnostic.</summary>
    internal static string[] Marks(IEnumerable<Diagnostic> diagnostics) =>
        [.. diagnostics.Select(static each => $"{each.Id} {TextAt(each)}")];

    internal static string TextAt(Diagnostic diagnostic) =>
        diagnostic.Location.SourceTree!.ToString().Substring(diagnostic.Location.SourceSpan.Start, diagnostic.Location.SourceSpan.Length);

    /// <summary>It gives the properties of the project that analyzers are shown.</summary>
    private sealed class BuildProperties(Dictionary<string, string> values) : AnalyzerConfigOptionsProvider
    {
        public override AnalyzerConfigOptions GlobalOptions { get; } = new Values(values);

        public override AnalyzerConfigOptions GetOptions(SyntaxTree tree) => new Values([]);

        public override AnalyzerConfigOptions GetOptions(AdditionalText textFile) => new Values([]);

        private sealed class Values(Dictionary<string, string> values) : AnalyzerConfigOptions
        {
            public override bool TryGetValue(string key, [NotNullWhen(true)] out string? value) => values.TryGetValue(key, out value);
        }
    }
}
