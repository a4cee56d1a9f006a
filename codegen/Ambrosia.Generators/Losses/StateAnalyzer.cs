using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using Ambrosia.Generators.Determinism;
using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.Serialization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

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
            HashSet<string> state = KnownBodies.With(start.Compilation, DeterminismAnalyzer.IsInvariant(start.Options),
                known => known.StateTypes(first => StateTypes.Of(first, start.CancellationToken)), start.CancellationToken);
            start.RegisterSymbolAction(symbol => Judge(symbol, state), SymbolKind.NamedType);
            start.RegisterOperationAction(creation => JudgeCreation(creation, state), OperationKind.ObjectCreation);
        });
    }

    private static void Judge(SymbolAnalysisContext context, HashSet<string> state)
    {
        var type = (INamedTypeSymbol)context.Symbol;
        bool isData = Symbols.Attribute(type, "DataAttribute") is not null;
        if (isData)
            foreach ((ISymbol member, string why) in DataReader.Lost(type))
                Report(context, LossRules.Member, member, type.Name, why);
        if (type.TypeKind is not (TypeKind.Class or TypeKind.Struct) || !state.Contains(Symbols.PlainName(type))) return;
        // AMB014 judges what travels of data.
        foreach (IFieldSymbol field in StateTypes.FieldsOf(type)
            .Where(field => !isData || (field.AssociatedSymbol ?? field).DeclaredAccessibility != Accessibility.Public))
            if (WritableTypes.WhyNot(field.Type, context.Compilation.Assembly) is { } why)
                Report(context, LossRules.Field, field.AssociatedSymbol ?? field,
                    field.Type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat), why);
        foreach (IEventSymbol each in StateTypes.EventsOf(type))
            Report(context, LossRules.Field, each, each.Type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat),
                "who listens is a function, which belongs to one build; call the methods of objects that you keep in a list");
    }

    /// <summary>
    /// A field of type Random can hold the immortal's own. One of a seed is the framework's, and is found where it is put into the state.
    /// </summary>
    private static void JudgeCreation(OperationAnalysisContext context, HashSet<string> state)
    {
        var creation = (IObjectCreationOperation)context.Operation;
        if (creation.Type is not { Name: "Random", ContainingNamespace.Name: "System" }) return;
        IOperation? at = creation.Parent;
        while (at is IConversionOperation or ICoalesceOperation or IConditionalOperation) at = at.Parent;
        ISymbol? member = at switch
        {
            ISimpleAssignmentOperation { Target: IMemberReferenceOperation target } => target.Member,
            ICoalesceAssignmentOperation { Target: IMemberReferenceOperation target } => target.Member,
            IFieldInitializerOperation initializer => initializer.InitializedFields.FirstOrDefault(),
            IPropertyInitializerOperation initializer => initializer.InitializedProperties.FirstOrDefault(),
            _ => null,
        };
        if (member is not { IsStatic: false, ContainingType: { } type } || !state.Contains(Symbols.PlainName(type.OriginalDefinition))
            || !StateTypes.FieldsOf(type.OriginalDefinition).Any(field =>
                SymbolEqualityComparer.Default.Equals(field.AssociatedSymbol ?? field, member.OriginalDefinition))) return;
        context.ReportDiagnostic(Diagnostic.Create(LossRules.Field, creation.Syntax.GetLocation(), $"{type.Name}.{member.Name}",
            "Random of another seed", "its state is the framework's and not known; use the Random of the immortal, which every checkpoint holds"));
    }

    private static void Report(SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol member, string what, string why)
    {
        Location place = member.Locations.FirstOrDefault(static each => each.IsInSource)
            ?? member.ContainingType.Locations.First(static each => each.IsInSource);
        context.ReportDiagnostic(Diagnostic.Create(rule, place, $"{member.ContainingType.Name}.{member.Name}", what, why));
    }
}
