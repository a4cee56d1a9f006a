using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Knows, within one body, which expressions are parts of the immortal's state, or of what the body is given: fields, what these lead to,
/// and locals that have such a value. It tells reads from changes. The walk hands it each operation in the order of the source.
/// </summary>
/// <param name="toFirst">Gives the symbols of which facts speak.</param>
internal sealed class StateTracker(Counterparts toFirst)
{
    /// <summary>The methods of the framework that give an element, or elements, of what they are called on.</summary>
    private static readonly HashSet<string> s_choosing =
    [
        "AsEnumerable", "Dequeue", "ElementAt", "ElementAtOrDefault", "Find", "FindLast", "First", "FirstOrDefault", "GetValueOrDefault", "Last",
        "LastOrDefault", "MaxBy", "MinBy", "OfType", "OrderBy", "OrderByDescending", "Peek", "Pop", "Reverse", "Single", "SingleOrDefault",
        "Skip", "SkipWhile", "Take", "TakeWhile", "ThenBy", "Where",
    ];

    private readonly Dictionary<ISymbol, ObjectOrigin> _locals = new(SymbolEqualityComparer.Default);

    /// <summary>Returns where an object comes from; null where it is neither of the state nor given.</summary>
    internal ObjectOrigin? OriginOf(IOperation? operation)
    {
        operation = operation is null ? null : HandlerRules.Unconverted(operation);
        return operation switch
        {
            IInstanceReferenceOperation { ReferenceKind: InstanceReferenceKind.ContainingTypeInstance } self =>
                ImmortalTypes.IsImmortal(self.Type) ? ObjectOrigin.OfState : ObjectOrigin.OfThis,
            IFieldReferenceOperation { Instance: { } owner } field => IsLeftOut(field.Field) ? null : OriginOf(owner),
            IPropertyReferenceOperation { Instance: { } owner } property =>
                IsLeftOut(property.Property) ? null
                : IsStored(property.Property) ? OriginOf(owner) : GivenOutBy(property.Property.GetMethod, owner),
            IArrayElementReferenceOperation element => OriginOf(element.ArrayReference),
            IConditionalAccessInstanceOperation instance => OriginOf(ConditionOf(instance)),
            IConditionalAccessOperation access => OriginOf(access.WhenNotNull),
            ICoalesceOperation either => OriginOf(either.Value) ?? OriginOf(either.WhenNull),
            IConditionalOperation either => OriginOf(either.WhenTrue) ?? OriginOf(either.WhenFalse),
            ISwitchExpressionOperation either =>
                either.Arms.Select(arm => OriginOf(arm.Value)).FirstOrDefault(static each => each is not null),
            ISimpleAssignmentOperation assignment => OriginOf(assignment.Value),
            ICoalesceAssignmentOperation assignment => OriginOf(assignment.Target) ?? OriginOf(assignment.Value),
            IInvocationOperation call => OriginOf(call),
            ILocalReferenceOperation local => _locals.TryGetValue(local.Local, out ObjectOrigin known) ? known : null,
            IParameterReferenceOperation parameter => OriginOf(parameter.Parameter),
            _ => null,
        };
    }

    /// <summary>Remembers which locals are given objects of the state.</summary>
    internal void Note(IVariableDeclaratorOperation operation)
    {
        if (operation.Initializer is { } initializer) Keep(operation.Symbol, initializer.Value);
    }

    /// <inheritdoc cref="Note(IVariableDeclaratorOperation)"/>
    internal void Note(ISimpleAssignmentOperation operation)
    {
        if (operation.Target is ILocalReferenceOperation local) Keep(local.Local, operation.Value);
    }

    /// <inheritdoc cref="Note(IVariableDeclaratorOperation)"/>
    internal void Note(IIsPatternOperation operation)
    {
        ISymbol? declared = operation.Pattern switch
        {
            IDeclarationPatternOperation pattern => pattern.DeclaredSymbol,
            IRecursivePatternOperation pattern => pattern.DeclaredSymbol,
            _ => null,
        };
        if (declared is ILocalSymbol local) Keep(local, operation.Value);
    }

    /// <inheritdoc cref="Note(IVariableDeclaratorOperation)"/>
    internal void Note(IForEachLoopOperation operation)
    {
        foreach (ILocalSymbol local in operation.Locals) Keep(local, operation.Collection);
    }

    /// <summary>Returns how an invocation uses the state; null where it does not.</summary>
    internal StateUse? Note(IInvocationOperation operation)
    {
        IMethodSymbol method = operation.TargetMethod;
        if (ImmortalTypes.UseOf(method) is { } kind)
            return new StateUse(kind, Places.Of(operation), $"{Places.NameOf(method)}", ObjectOrigin.OfState);
        if (ImmortalTypes.IsSending(method)
            && (method.Name.EndsWith("Fork", System.StringComparison.Ordinal) || method.Name.EndsWith("Async",
                System.StringComparison.Ordinal)))
            return new StateUse(StateUseKind.Send, Places.Of(operation), Places.NameOf(method), ObjectOrigin.OfState);
        if (operation.Instance is not { } owner || !IsOfFramework(method) || OriginOf(owner) is not { } origin) return null;
        foreach (IArgumentOperation argument in operation.Arguments)
            if (argument is { Parameter.RefKind: RefKind.Out, Value: { } value }
                && (value as IDeclarationExpressionOperation)?.Expression is ILocalReferenceOperation { Type.IsReferenceType: true } local)
                _locals[local.Local] = origin;
        return StaticRules.Changing.Contains(method.Name) && StaticRules.IsCollection(method.ContainingType)
            ? new StateUse(StateUseKind.Write, Places.Of(operation), operation.Syntax.ToString(), origin) : null;
    }

    /// <summary>Returns how a reference to a field or property uses the state; null where it does not.</summary>
    internal StateUse? Note(IMemberReferenceOperation operation)
    {
        if (operation.Instance is not { } owner) return null;
        if (operation.Member is IPropertySymbol { IsIndexer: true } && owner is IMemberReferenceOperation) return null; // told of the owner
        if (ImmortalTypes.UseOf(operation.Member) is { } kind)
            return new StateUse(kind, operation.Syntax.GetLocation(), operation.Member.Name, ObjectOrigin.OfState);
        if (IsLeftOut(operation.Member) || operation.Member.ContainingType is { } type && ImmortalTypes.IsBase(type)) return null;
        if (OriginOf(owner) is not { } origin) return null;
        if ((Access.Of(operation).Writes && !IsInACopy(owner) || IsWrittenInto(operation))
            && (origin.Slot == ObjectOrigin.State || IsStored(operation.Member)))
            return new StateUse(StateUseKind.Write, operation.Syntax.GetLocation(), operation.Syntax.ToString(), origin);
        return origin.Slot == ObjectOrigin.State && IsTheImmortal(owner) && !IsHarmless(operation)
            ? new StateUse(StateUseKind.Read, operation.Syntax.GetLocation(), operation.Syntax.ToString(), origin) : null;
    }

    /// <summary>Returns what a call gives to the called method: its own object, and the arguments that are objects.</summary>
    internal List<GivenObject>? GivenBy(IOperation? receiver, IEnumerable<IArgumentOperation>? arguments)
    {
        List<GivenObject>? given = null;
        if (receiver is not null && OriginOf(receiver) is { } own) (given = []).Add(new GivenObject(0, own));
        foreach (IArgumentOperation argument in arguments ?? [])
            if (argument.Parameter is { } parameter && parameter.Ordinal < ObjectOrigin.SlotMax
                && (parameter.Type.IsReferenceType || parameter.RefKind == RefKind.Ref) && OriginOf(argument.Value) is { } origin)
                (given ??= []).Add(new GivenObject(parameter.Ordinal + 1, origin));
        return given;
    }

    private void Keep(ILocalSymbol local, IOperation value)
    {
        bool leadsOn = local.Type.IsReferenceType || (local.Type.TypeKind == TypeKind.Struct && local.Type.SpecialType == SpecialType.None);
        if (leadsOn && OriginOf(value) is { } origin) _locals[local] = origin;
    }

    private ObjectOrigin? OriginOf(IInvocationOperation call)
    {
        if (call.Type?.IsReferenceType != true) return null;
        if (!IsOfFramework(call.TargetMethod)) return call.Instance is { } self ? GivenOutBy(call.TargetMethod, self) : null;
        if (!s_choosing.Contains(call.TargetMethod.Name)) return null;
        return OriginOf(call.Instance ?? call.Arguments.FirstOrDefault()?.Value);
    }

    /// <summary>
    /// Returns the origin of what a method of an object gives out. Whether that is a copy is found when all bodies are known.
    /// </summary>
    private ObjectOrigin? GivenOutBy(IMethodSymbol? method, IOperation owner) =>
        OriginOf(owner) is not { } origin ? null
        : method is null ? origin : origin with { By = new GivenOut(toFirst.Of(method.OriginalDefinition), origin.By) };

    private static ObjectOrigin? OriginOf(IParameterSymbol parameter)
    {
        if (ImmortalTypes.IsImmortal(parameter.Type)) return ObjectOrigin.OfState;
        bool isOfBody =
            parameter.ContainingSymbol is IMethodSymbol { MethodKind: not (MethodKind.AnonymousFunction or MethodKind.PropertySet) };
        return isOfBody && parameter.Ordinal < ObjectOrigin.SlotMax && (parameter.Type.IsReferenceType || parameter.RefKind == RefKind.Ref)
            ? new ObjectOrigin(parameter.Ordinal + 1) : null;
    }

    /// <summary>Tells whether an expression is the immortal itself, and no part of it.</summary>
    private static bool IsTheImmortal(IOperation operation) =>
        operation is IInstanceReferenceOperation or IParameterReferenceOperation or ILocalReferenceOperation
        && ImmortalTypes.IsImmortal(operation.Type);

    /// <summary>Tells whether an owner is a struct in a local: what it leads to may be of the state, and it is not.</summary>
    private static bool IsInACopy(IOperation owner)
    {
        while (owner is IFieldReferenceOperation { Type.IsValueType: true, Instance: { } outer }) owner = outer;
        return owner is ILocalReferenceOperation { Type.IsValueType: true, Local.IsRef: false };
    }

    /// <summary>Tells whether an element of what is referred to is put there: <c>_counts[key] = …</c>.</summary>
    private static bool IsWrittenInto(IMemberReferenceOperation operation) => operation.Parent switch
    {
        IArrayElementReferenceOperation element => element.ArrayReference == operation && Access.Of(element).Writes,
        IPropertyReferenceOperation { Property.IsIndexer: true } indexer =>
            indexer.Instance == operation && Access.Of(indexer).Writes,
        _ => false,
    };

    /// <summary>Tells whether a member is a place by itself. What another property does, its accessor does.</summary>
    private static bool IsStored(ISymbol member) =>
        member is not IPropertySymbol { DeclaringSyntaxReferences.IsEmpty: false } property || Symbols.IsAutomatic(property);

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

    /// <summary>Tells whether a member is marked [NotState].</summary>
    internal static bool IsLeftOut(ISymbol member) =>
        Symbols.Attribute(member, "NotStateAttribute") is not null
        || (member is IFieldSymbol { AssociatedSymbol: { } property } && Symbols.Attribute(property, "NotStateAttribute") is not null);

    /// <summary>
    /// Returns what a member behind <c>?.</c> is a member of. It stands in what follows a condition; what is itself a condition of the next
    /// one, as the middle of <c>a?.B?.C</c>, belongs to the one before.
    /// </summary>
    private static IOperation? ConditionOf(IConditionalAccessInstanceOperation instance)
    {
        IOperation at = instance;
        for (IOperation? parent = at.Parent; parent is not null; (at, parent) = (parent, parent.Parent))
            if (parent is IConditionalAccessOperation access && access.WhenNotNull == at) return access.Operation;
        return null;
    }
}
