using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.Serialization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Reports, where they are declared, fields of the state that no checkpoint can hold and members of [Data] types that do not arrive. The
/// compiler calls it on threads of its choice.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class StateAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [LossRules.Field, LossRules.Member];

    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(static start =>
        {
            if (start.Compilation.GetTypeByMetadataName("Ambrosia.Immortal") is null) return;
            HashSet<INamedTypeSymbol> state = StateTypes.Of(start.Compilation, start.CancellationToken);
            start.RegisterSymbolAction(symbol => Judge(symbol, state), SymbolKind.NamedType);
        });
    }

    private static void Judge(SymbolAnalysisContext context, HashSet<INamedTypeSymbol> state)
    {
        var type = (INamedTypeSymbol)context.Symbol;
        bool isData = Symbols.Attribute(type, "DataAttribute") is not null;
        if (isData)
            foreach ((ISymbol member, string why) in DataReader.Lost(type))
                Report(context, LossRules.Member, member, type.Name, why);
        if (type.TypeKind is not (TypeKind.Class or TypeKind.Struct) || !state.Contains(type)) return;
        // AMB014 judges what travels of data.
        foreach (IFieldSymbol field in StateTypes.FieldsOf(type)
            .Where(field => !isData || (field.AssociatedSymbol ?? field).DeclaredAccessibility != Accessibility.Public))
            if (WritableTypes.WhyNot(field.Type, context.Compilation.Assembly) is { } why)
                Report(context, LossRules.Field, field.AssociatedSymbol ?? field,
                    field.Type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat), why);
    }

    private static void Report(SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol member, string what, string why)
    {
        Location place = member.Locations.FirstOrDefault(static each => each.IsInSource)
            ?? member.ContainingType.Locations.First(static each => each.IsInSource);
        context.ReportDiagnostic(Diagnostic.Create(rule, place, $"{member.ContainingType.Name}.{member.Name}", what, why));
    }
}
