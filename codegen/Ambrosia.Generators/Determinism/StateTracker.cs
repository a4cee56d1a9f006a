using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Knows, within one body, which expressions are parts of the immortal's state: its fields, what these lead to, and locals that were
/// given such a value. It tells reads from changes. The walk hands it each operation in the order of the source.
/// </summary>
internal sealed class StateTracker
{
    private readonly HashSet<ISymbol> _locals = new(SymbolEqualityComparer.Default);

    /// <summary>Tells whether an expression is an object of the state.</summary>
    internal bool IsOfState(IOperation? operation)
    {
        operation = operation is null ? null : HandlerRules.Unconverted(operation);
        return operation switch
        {
            IInstanceReferenceOperation { ReferenceKind: InstanceReferenceKind.ContainingTypeInstance } self =>
                ImmortalTypes.IsImmortal(self.Type),
            IFieldReferenceOperation { Instance: { } owner } field => !IsLeftOut(field.Field) && IsOfState(owner),
            IPropertyReferenceOperation { Instance: { } owner } property => !IsLeftOut(property.Property) && IsOfState(owner),
            IArrayElementReferenceOperation element => IsOfState(element.ArrayReference),
            IConditionalAccessInstanceOperation { Parent: { } parent } => ConditionOf(parent) is { } condition && IsOfState(condition),
            IInvocationOperation { Instance: { } owner, Type.IsReferenceType: true,
                TargetMethod.DeclaringSyntaxReferences.IsEmpty: false } =>
                IsOfState(owner),
            ILocalReferenceOperation local => _locals.Contains(local.Local),
            IParameterReferenceOperation { Parameter.ContainingSymbol: IMethodSymbol { MethodKind: MethodKind.Constructor } } => false,
            _ => false,
        };
    }

    /// <summary>Remembers which locals are given objects of the state.</summary>
    internal void Note(IVariableDeclaratorOperation operation)
    {
        if (operation.Initializer is { } initializer && operation.Symbol.Type.IsReferenceType && IsOfState(initializer.Value))
            _locals.Add(operation.Symbol);
    }

    /// <inheritdoc cref="Note(IVariableDeclaratorOperation)"/>
    internal void Note(ISimpleAssignmentOperation operation)
    {
        if (operation.Target is ILocalReferenceOperation { Type.IsReferenceType: true } local && IsOfState(operation.Value))
            _locals.Add(local.Local);
    }

    /// <inheritdoc cref="Note(IVariableDeclaratorOperation)"/>
    internal void Note(IForEachLoopOperation operation)
    {
        if (!IsOfState(operation.Collection)) return;
        foreach (ILocalSymbol local in operation.Locals.Where(static each => each.Type.IsReferenceType)) _locals.Add(local);
    }

    /// <summary>Returns how an invocation uses the state; null where it does not.</summary>
    internal StateUse? Note(IInvocationOperation operation)
    {
        IMethodSymbol method = operation.TargetMethod;
        if (ImmortalTypes.UseOf(method) is { } kind)
            return new StateUse(kind, Places.Of(operation), $"{Places.NameOf(method)}");
        if (ImmortalTypes.IsSending(method)
            && (method.Name.EndsWith("Fork", System.StringComparison.Ordinal) || method.Name.EndsWith("Async",
                System.StringComparison.Ordinal)))
            return new StateUse(StateUseKind.Send, Places.Of(operation), Places.NameOf(method));
        if (operation.Instance is not { } owner || !IsOfFramework(method)) return null;
        bool isOfState = IsOfState(owner), isOfSelf = !isOfState && IsOfSelf(owner);
        if (!isOfState && !isOfSelf) return null;
        foreach (IArgumentOperation argument in operation.Arguments)
            if (argument is { Parameter.RefKind: RefKind.Out,
                Value: IDeclarationExpressionOperation { Expression: ILocalReferenceOperation local } }
                && local.Type?.IsReferenceType == true && isOfState) _locals.Add(local.Local);
        return StaticRules.Changing.Contains(method.Name) && StaticRules.IsCollection(method.ContainingType)
            ? new StateUse(isOfState ? StateUseKind.Write : StateUseKind.WriteOfSelf, Places.Of(operation), operation.Syntax.ToString())
            : null;
    }

    /// <summary>Returns how a reference to a field or property uses the state; null where it does not.</summary>
    internal StateUse? Note(IMemberReferenceOperation operation)
    {
        if (operation.Instance is not { } owner) return null;
        if (operation.Member is IPropertySymbol { IsIndexer: true } && owner is IMemberReferenceOperation) return null; // told of the owner
        if (ImmortalTypes.UseOf(operation.Member) is { } kind) return new StateUse(kind, operation.Syntax.GetLocation(),
            operation.Member.Name);
        if (IsLeftOut(operation.Member) || operation.Member.ContainingType is { } type && ImmortalTypes.IsBase(type)) return null;
        bool writes = Access.Of(operation).Writes || IsWrittenInto(operation);
        if (IsOfState(owner))
            return writes ? new StateUse(StateUseKind.Write, operation.Syntax.GetLocation(), operation.Syntax.ToString())
                : owner is IInstanceReferenceOperation && !IsHarmless(operation)
                    ? new StateUse(StateUseKind.Read, operation.Syntax.GetLocation(), operation.Syntax.ToString()) : null;
        return writes && IsOfSelf(owner) && operation.Member is not IPropertySymbol { DeclaringSyntaxReferences.IsEmpty: false }
            ? new StateUse(StateUseKind.WriteOfSelf, operation.Syntax.GetLocation(), operation.Syntax.ToString()) : null;
    }

    /// <summary>Tells whether an element of what is referred to is put there: <c>_counts[key] = …</c>.</summary>
    private static bool IsWrittenInto(IMemberReferenceOperation operation) => operation.Parent switch
    {
        IArrayElementReferenceOperation element => element.ArrayReference == operation && Access.Of(element).Writes,
        IPropertyReferenceOperation { Property.IsIndexer: true } indexer =>
            indexer.Instance == operation && Access.Of(indexer).Writes,
        _ => false,
    };

    /// <summary>Tells whether another thread may read it: it never changes and is no object with a state, or it is a proxy.</summary>
    private static bool IsHarmless(IMemberReferenceOperation operation)
    {
        if (operation.Type is not { } type || ImmortalTypes.IsProxy(type)) return true;
        bool isFixed = operation.Member switch
        {
            IFieldSymbol field => field.IsReadOnly,
            IPropertySymbol property => property.SetMethod is null or { IsInitOnly: true },
            _ => true,
        };
        return isFixed && (type.IsValueType || type.SpecialType == SpecialType.System_String)
            || operation.Member is IPropertySymbol { DeclaringSyntaxReferences.IsEmpty: false, SetMethod: null };
    }

    private static bool IsOfFramework(IMethodSymbol method) => method.DeclaringSyntaxReferences.IsEmpty;

    /// <summary>Tells whether an expression is this object, which is no immortal, or a field of it.</summary>
    private static bool IsOfSelf(IOperation operation) => HandlerRules.Unconverted(operation) switch
    {
        IInstanceReferenceOperation { ReferenceKind: InstanceReferenceKind.ContainingTypeInstance } => true,
        IFieldReferenceOperation { Instance: { } owner } => IsOfSelf(owner),
        IPropertyReferenceOperation { Instance: { } owner } => IsOfSelf(owner),
        _ => false,
    };

    private static bool IsLeftOut(ISymbol member) =>
        Symbols.Attribute(member, "NotStateAttribute") is not null
        || (member is IFieldSymbol { AssociatedSymbol: { } property } && Symbols.Attribute(property, "NotStateAttribute") is not null);

    private static IOperation? ConditionOf(IOperation at)
    {
        for (IOperation? parent = at; parent is not null; parent = parent.Parent)
            if (parent is IConditionalAccessOperation access) return access.Operation;
        return null;
    }
}
