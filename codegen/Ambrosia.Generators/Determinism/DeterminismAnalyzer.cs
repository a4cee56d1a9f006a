using System;
using System.Collections.Immutable;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Reports what handlers reach that is no function of the log. In an editor the calls of the whole compilation are followed once, before
/// the first file is judged; then each file is given what was found in it, so that it is shown where it stands. A build has bodies read as
/// the compiler comes to them, when they are bound anyway, and not kept: they are judged at its end. The compiler calls it on threads of
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
            if (IsBuild(start.Options)) JudgeAtTheEnd(start);
            else JudgeFiles(start);
        });
    }

    private static void JudgeFiles(CompilationStartAnalysisContext start)
    {
        ILookup<SyntaxTree, Diagnostic> found =
            HandlerReach.Find(start.Compilation, IsInvariant(start.Options), start.CancellationToken);
        if (found.Count == 0) return;
        start.RegisterSemanticModelAction(file =>
        {
            foreach (Diagnostic each in found[file.SemanticModel.SyntaxTree]) file.ReportDiagnostic(each);
        });
    }

    private static void JudgeAtTheEnd(CompilationStartAnalysisContext start)
    {
        var known = KnownBodies.OfBuild(start.Compilation, IsInvariant(start.Options), start.CancellationToken);
        if (known.Immortals.IsEmpty) return;
        var gate = new object();
        start.RegisterOperationBlockAction(body =>
        {
            lock (gate) known.Facts.Of(body.OwningSymbol, body.CancellationToken);
        });
        start.RegisterCompilationEndAction(end =>
        {
            foreach (Diagnostic each in HandlerReach.Of(known, end.CancellationToken)) end.ReportDiagnostic(each);
        });
    }

    /// <summary>
    /// Tells whether nobody is typing: the compiler makes its options itself, and those of an editor come from its workspace. A property of
    /// the project would not do, since an editor reads the file in which a build has left them.
    /// </summary>
    internal static bool IsBuild(AnalyzerOptions options) =>
        options.AnalyzerConfigOptionsProvider.GetType().Assembly == typeof(Compilation).Assembly;

    /// <summary>Tells whether the app knows no cultures.</summary>
    internal static bool IsInvariant(AnalyzerOptions options) =>
        options.AnalyzerConfigOptionsProvider.GlobalOptions.TryGetValue(InvariantProperty, out string? value)
        && string.Equals(value, "true", StringComparison.OrdinalIgnoreCase);
}
