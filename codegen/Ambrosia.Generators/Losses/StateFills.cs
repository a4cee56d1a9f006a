using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Reports values that no checkpoint can hold where they are put into the state, since the type of their place does not tell: a Random of a
/// seed, a collection with a comparer of its own, what stands behind an interface. The compiler calls it on threads of its choice.
/// </summary>
internal static class StateFills
{
    private const string Comparer = "a checkpoint keeps the default comparers, StringComparer.Ordinal and OrdinalIgnoreCase alone";

    /// <summary>Judges what makes a value: an object creation or a call.</summary>
    internal static void Judge(OperationAnalysisContext context, HashSet<string> state)
    {
        IOperation value = context.Operation;
        if (value.Type is not INamedTypeSymbol made || !Symbols.IsOfFramework(made.ContainingAssembly) || value.Parent is null) return;
        if (MemberFilledBy(value) is not { IsStatic: false, ContainingType: { } type } member) return;
        if (!state.Contains(Symbols.PlainName(type.OriginalDefinition))
            || StateTypes.FieldsOf(type.OriginalDefinition).FirstOrDefault(field => SymbolEqualityComparer.Default.Equals(
                field.AssociatedSymbol ?? field, member.OriginalDefinition)) is not { } filled
            || WritableTypes.WhyNot(filled.Type, context.Compilation.Assembly) is not null) return; // its declaration is reported
        (string What, string Why)? found = value is IObjectCreationOperation && made is { Name: "Random", ContainingNamespace.Name: "System" }
            ? ("Random of another seed", "its state is the framework's and not known; use the Random of the immortal, which every checkpoint holds")
            : Lazy(value) ?? Compared(value) ?? Behind(made, context.Compilation.Assembly);
        if (found is var (what, why))
            context.ReportDiagnostic(Diagnostic.Create(
                LossRules.Field, value.Syntax.GetLocation(), $"{type.Name}.{member.Name}", what, why));
    }

    /// <summary>Returns the field or property that gets the value at once; null where it goes elsewhere.</summary>
    private static ISymbol? MemberFilledBy(IOperation value)
    {
        IOperation? at = value.Parent;
        while (at is IConversionOperation or ICoalesceOperation or IConditionalOperation) at = at.Parent;
        return at switch
        {
            ISimpleAssignmentOperation { Target: IMemberReferenceOperation target } => target.Member,
            ICoalesceAssignmentOperation { Target: IMemberReferenceOperation target } => target.Member,
            IFieldInitializerOperation initializer => initializer.InitializedFields.FirstOrDefault(),
            IPropertyInitializerOperation initializer => initializer.InitializedProperties.FirstOrDefault(),
            _ => null,
        };
    }

    /// <summary>Finds a query that is executed when it is enumerated.</summary>
    private static (string, string)? Lazy(IOperation value) =>
        value is IInvocationOperation { Type.TypeKind: TypeKind.Interface, TargetMethod: { ContainingType: { } of } method }
            && of is { Name: "Enumerable", ContainingNamespace.Name: "Linq" } && method.Name is not ("AsEnumerable" or "Cast" or "Empty")
            ? ($"query {method.Name}", "it is functions that wait until it is enumerated; keep what it gives: ToList() or ToArray()") : null;

    /// <summary>Finds a comparer that no checkpoint can hold.</summary>
    private static (string, string)? Compared(IOperation value)
    {
        IEnumerable<IArgumentOperation> arguments = value switch
        {
            IObjectCreationOperation creation => creation.Arguments, IInvocationOperation call => call.Arguments, _ => [],
        };
        foreach (IArgumentOperation argument in arguments)
        {
            if (argument.Parameter?.Type is not { Name: "IEqualityComparer" or "IComparer" }) continue;
            IOperation given = argument.Value;
            while (given is IConversionOperation conversion) given = conversion.Operand;
            bool isLost = given switch
            {
                IPropertyReferenceOperation { Property: { IsStatic: true, ContainingType.Name: "StringComparer" } property } =>
                    property.Name is not ("Ordinal" or "OrdinalIgnoreCase"),
                IInvocationOperation { TargetMethod: { IsStatic: true } made } =>
                    made.Name is "Create" or "CreateSetComparer" or "FromComparison" && Symbols.IsOfFramework(made.ContainingAssembly),
                IObjectCreationOperation => true,
                _ => false,
            };
            if (isLost) return ($"{value.Type!.Name} with a comparer of its own", Comparer);
        }
        return null;
    }

    /// <summary>Finds a class of the framework behind an interface or another class.</summary>
    private static (string, string)? Behind(INamedTypeSymbol made, IAssemblySymbol app) =>
        made.TypeKind is TypeKind.Class or TypeKind.Struct && WritableTypes.WhyNot(made, app) is { } why
            ? (made.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat), why) : null;
}
