using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Ambrosia.State;
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
    private static readonly string s_comparer =
        $"a checkpoint keeps the default comparers, {string.Join(" and ", KeptTypes.Comparers.Select(static each => $"StringComparer.{each}"))} alone";

    /// <summary>Judges what an assignment or initializer puts into the state.</summary>
    internal static void Judge(OperationAnalysisContext context, HashSet<string> state)
    {
        (ISymbol? member, IOperation? given) = Filled(context.Operation);
        if (given is null || member is not { IsStatic: false, ContainingType: { } type }) return;
        if (!state.Contains(Symbols.PlainName(type.OriginalDefinition))
            || StateTypes.FieldsOf(type.OriginalDefinition).FirstOrDefault(field => SymbolEqualityComparer.Default.Equals(
                field.AssociatedSymbol ?? field, member.OriginalDefinition)) is not { } filled
            || WritableTypes.WhyNot(filled.Type, context.Compilation.Assembly) is not null) return; // its declaration is reported
        foreach (IOperation value in Values(given))
            if (Fault(value, context.Compilation) is var (what, why))
                context.ReportDiagnostic(Diagnostic.Create(
                    LossRules.Field, value.Syntax.GetLocation(), $"{type.Name}.{member.Name}", what, why));
    }

    private static (string What, string Why)? Fault(IOperation value, Compilation compilation) =>
        value is IObjectCreationOperation { Type: { Name: "Random", ContainingNamespace.Name: "System" } }
            ? ("Random of another seed", "its state is the framework's and not known; use the Random of the immortal, which every checkpoint holds")
            : value is IInvocationOperation { TargetMethod: { Name: "CreateInstance", Parameters.Length: 3 } made }
                && made.ContainingType.SpecialType == SpecialType.System_Array
            ? ("array from another index than 0", "keep the first index beside it")
            : Lazy(value, compilation) ?? Compared(value) ?? Behind(value.Type, compilation.Assembly);

    /// <summary>Returns the field or property that gets a value, and the value; null where it is something else.</summary>
    private static (ISymbol?, IOperation?) Filled(IOperation fill) => fill switch
    {
        ISimpleAssignmentOperation { Target: IMemberReferenceOperation target } assignment => (target.Member, assignment.Value),
        ICoalesceAssignmentOperation { Target: IMemberReferenceOperation target } assignment => (target.Member, assignment.Value),
        IFieldInitializerOperation initializer => (initializer.InitializedFields.FirstOrDefault(), initializer.Value),
        IPropertyInitializerOperation initializer => (initializer.InitializedProperties.FirstOrDefault(), initializer.Value),
        _ => default,
    };

    /// <summary>Returns the values that an expression may give, before they are converted.</summary>
    private static IEnumerable<IOperation> Values(IOperation of) => of switch
    {
        IConversionOperation conversion => Values(conversion.Operand),
        ICoalesceOperation either => Values(either.Value).Concat(Values(either.WhenNull)),
        IConditionalOperation { WhenFalse: { } otherwise } either => Values(either.WhenTrue).Concat(Values(otherwise)),
        ISwitchExpressionOperation choice => choice.Arms.SelectMany(static arm => Values(arm.Value)),
        IInvocationOperation { TargetMethod.Name: "AsEnumerable" } call when IsOfLinq(call) && call.Arguments.Length == 1 =>
            Values(call.Arguments[0].Value),
        _ => [of],
    };

    /// <summary>Finds a query that is executed when it is enumerated.</summary>
    private static (string, string)? Lazy(IOperation value, Compilation compilation) =>
        value is IInvocationOperation { TargetMethod: { OriginalDefinition.ReturnType.TypeKind: TypeKind.Interface } method } call
        && IsOfLinq(call) && method.Name != "Empty" && !(method.Name == "Cast" && GivesItself(call, compilation))
            ? ($"query {method.Name}", KeptTypes.InsteadOf("System.Linq")!) : null;

    /// <summary>Tells whether Cast gives the sequence that it is asked of, because that is one of such elements.</summary>
    private static bool GivesItself(IInvocationOperation cast, Compilation compilation)
    {
        IOperation source = cast.Arguments[0].Value;
        while (source is IConversionOperation { IsImplicit: true } conversion) source = conversion.Operand;
        return source.Type is { } of && cast.Type is { } to && compilation.ClassifyCommonConversion(of, to).IsImplicit;
    }

    private static bool IsOfLinq(IInvocationOperation call) =>
        call.TargetMethod.ContainingType is { Name: "Enumerable", ContainingNamespace.Name: "Linq" };

    /// <summary>Finds a comparer that no checkpoint can hold.</summary>
    private static (string, string)? Compared(IOperation value)
    {
        IEnumerable<IArgumentOperation> arguments = value switch
        {
            IObjectCreationOperation creation => creation.Arguments, IInvocationOperation call => call.Arguments, _ => [],
        };
        if (!arguments.Any() || !Symbols.IsOfFramework(value.Type?.ContainingAssembly)) return null;
        foreach (IArgumentOperation argument in arguments)
        {
            if (argument.Parameter?.Type is not { Name: "IEqualityComparer" or "IComparer" }) continue;
            IOperation given = argument.Value;
            while (given is IConversionOperation conversion) given = conversion.Operand;
            bool isLost = given switch
            {
                IPropertyReferenceOperation { Property: { IsStatic: true, ContainingType.Name: "StringComparer" } property } =>
                    !KeptTypes.Comparers.Contains(property.Name),
                IInvocationOperation { TargetMethod: { IsStatic: true } made } =>
                    made.Name is "Create" or "CreateSetComparer" or "FromComparison" && Symbols.IsOfFramework(made.ContainingAssembly),
                // A class that says how it compares; of these three the comparer may be a default one.
                _ => given.Type is { TypeKind: TypeKind.Class or TypeKind.Struct, Name: not ("StringComparer" or "EqualityComparer" or "Comparer") },
            };
            if (isLost) return ($"{value.Type!.Name} with a comparer of its own", s_comparer);
        }
        return null;
    }

    /// <summary>Finds a type that no checkpoint can hold behind an interface or another class.</summary>
    private static (string, string)? Behind(ITypeSymbol? made, IAssemblySymbol app) =>
        made is not null && WritableTypes.WhyNot(made, app) is { } why
            ? (made.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat), why) : null;
}
