using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using Ambrosia.Generators.Determinism;
using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.Serialization;
using Ambrosia.Generators.State;
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
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
        [LossRules.Field, LossRules.Member, LossRules.LeftOut, LossRules.Claimed];

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
            start.RegisterOperationAction(fill => StateFills.Judge(fill, state), OperationKind.SimpleAssignment,
                OperationKind.CoalesceAssignment, OperationKind.FieldInitializer, OperationKind.PropertyInitializer);
        });
    }

    private static void Judge(SymbolAnalysisContext context, HashSet<string> state)
    {
        var type = (INamedTypeSymbol)context.Symbol;
        JudgeFormerNames(context, type);
        bool isData = Symbols.Attribute(type, "DataAttribute") is not null;
        if (isData)
            foreach ((ISymbol member, string why) in DataReader.Lost(type))
                Report(context, LossRules.Member, member, type.Name, why);
        if (type.TypeKind is not (TypeKind.Class or TypeKind.Struct) || !state.Contains(Symbols.PlainName(type))) return;
        JudgeLeftOut(context, type);
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

    /// <summary>Reports members that take over one former name: a restore could not tell whose the value is.</summary>
    private static void JudgeFormerNames(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        var claims = new Dictionary<string, ISymbol>();
        foreach (ISymbol member in type.GetMembers().Where(static each => each is IFieldSymbol or IPropertySymbol))
            foreach (AttributeData mark in member.GetAttributes().Where(static each => Symbols.IsOurs(each.AttributeClass, "FormerlyNamedAttribute")))
            {
                if (mark.ConstructorArguments.FirstOrDefault().Value is not string former) continue;
                if (!claims.TryGetValue(former, out ISymbol? other)) claims.Add(former, member);
                else if (!IsOne(member, other))
                    context.ReportDiagnostic(Diagnostic.Create(
                        LossRules.Claimed, member.Locations[0], $"{type.Name}.{other.Name}", $"{type.Name}.{member.Name}", former));
            }
    }

    /// <summary>Tells whether they are a property and its field, which [field: …] may mark, too.</summary>
    private static bool IsOne(ISymbol member, ISymbol other) => SymbolEqualityComparer.Default.Equals(
        (member as IFieldSymbol)?.AssociatedSymbol ?? member, (other as IFieldSymbol)?.AssociatedSymbol ?? other);

    /// <summary>Reports what a restore leaves empty although the class says that it is there.</summary>
    private static void JudgeLeftOut(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        if (Symbols.Attribute(type, "StateSerializerAttribute") is not null) return;
        bool isContract = StateReader.IsContract(type);
        foreach (IFieldSymbol field in type.GetMembers().OfType<IFieldSymbol>().Where(static each => !each.IsStatic && !each.IsConst))
        {
            ISymbol member = field.AssociatedSymbol ?? field;
            if (!StateReader.IsNotState(field))
            {
                if (isContract && !StateReader.IsState(field, isContract) && !StateReader.IsIgnored(field))
                    Report(context, LossRules.Field, member, field.Type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat),
                        "of a [DataContract] class a checkpoint holds what is marked [DataMember]; mark it, or take [DataContract] away");
                continue;
            }
            bool isSetOnce = field.IsReadOnly || member is IPropertySymbol { SetMethod: null };
            if (!StateTypes.HasInitializer(member, context.CancellationToken) && !isSetOnce) continue;
            Location place = member.Locations.First(static each => each.IsInSource);
            context.ReportDiagnostic(Diagnostic.Create(LossRules.LeftOut, place, $"{type.Name}.{member.Name}",
                isSetOnce ? "set where the object is made alone" : "has an initializer", field.Type.IsReferenceType ? "null" : "its default",
                field.Type.IsReferenceType ? $"{member.Name} ??= …, or in a property that does so" : "in BecomingPrimary, or where it is asked for"));
        }
    }

    private static void Report(SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol member, string what, string why)
    {
        Location place = member.Locations.FirstOrDefault(static each => each.IsInSource)
            ?? member.ContainingType.Locations.First(static each => each.IsInSource);
        context.ReportDiagnostic(Diagnostic.Create(rule, place, $"{member.ContainingType.Name}.{member.Name}", what, why));
    }
}
