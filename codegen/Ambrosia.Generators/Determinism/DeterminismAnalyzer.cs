using System;
using System.Collections.Immutable;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Reports what handlers reach that is no function of the log. The calls of the whole compilation are followed once, before the first file
/// is judged; then each file is given what was found in it, so that an editor shows it where it stands. The compiler calls it on threads of
/// its choice.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class DeterminismAnalyzer : DiagnosticAnalyzer
{
    private const string InvariantProperty = "build_property.InvariantGlobalization";

    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics => DeterminismRules.All;

    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(static start =>
        {
            if (start.Compilation.GetTypeByMetadataName("Ambrosia.Immortal") is null) return;
            ILookup<SyntaxTree, Diagnostic> found =
                HandlerReach.Find(start.Compilation, IsInvariant(start.Options), start.CancellationToken);
            if (found.Count == 0) return;
            start.RegisterSemanticModelAction(file =>
            {
                foreach (Diagnostic each in found[file.SemanticModel.SyntaxTree]) file.ReportDiagnostic(each);
            });
        });
    }

    /// <summary>Tells whether the app knows no cultures.</summary>
    internal static bool IsInvariant(AnalyzerOptions options) =>
        options.AnalyzerConfigOptionsProvider.GlobalOptions.TryGetValue(InvariantProperty, out string? value)
        && string.Equals(value, "true", StringComparison.OrdinalIgnoreCase);
}
