using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Walks a body and notes what it calls, what it uses of the state, and what a handler may not do. Lambdas belong to the body in which they
/// stand, since they run where they are called, except those that are given to a NondetTask; these and local functions have facts of their
/// own; and so have lambdas in a local that another body calls. One walk, one thread.
/// </summary>
internal sealed class FactCollector : OperationWalker
{
    /// <summary>A function within a body has the object of that body.</summary>
    private static readonly GivenObject[] s_given = [new(0, ObjectOrigin.OfThis)];

    private readonly Dictionary<ISymbol, MethodFacts> _inner;
    private readonly SemanticModel _model;
    private readonly bool _isInvariant;
    private readonly Counterparts _toFirst;
    private readonly StateTracker _state;
    private readonly HeldFunctions _functions = new();
    private readonly HashOrderRules _order = new();
    private readonly LeftOutRules _leftOut;
    private MethodFacts _facts;

    /// <summary>True among the arguments of a NondetTask: lambdas there run beside the body.</summary>
    private bool _isOfTask;

    /// <summary>True in a lambda that belongs to the body around it: what it returns the body does not.</summary>
    private bool _isInLambda;

    /// <param name="inner">Takes the facts of local functions and of lambdas that run elsewhere.</param>
    /// <param name="isInvariant">True where the app knows no cultures.</param>
    /// <param name="toFirst">Gives the symbols of which facts speak.</param>
    internal FactCollector(
        SemanticModel model, MethodFacts facts, Dictionary<ISymbol, MethodFacts> inner, Counterparts toFirst, bool isInvariant)
    {
        _toFirst = toFirst;
        _state = new StateTracker(toFirst);
        _leftOut = new LeftOutRules(toFirst);
        _model = model;
        _facts = facts;
        _inner = inner;
        _isInvariant = isInvariant;
    }

    public override void Visit(IOperation? operation)
    {
        if (operation is not null) FollowHidden(HiddenCalls.Of(operation, _model));
        base.Visit(operation);
    }

    public override void VisitInvocation(IInvocationOperation operation)
    {
        IMethodSymbol target = operation.TargetMethod;
        if (_state.Note(operation) is { } use) _facts.Uses.Add(use);
        if (ImmortalTypes.IsTask(target))
        {
            VisitTask(operation);
            return;
        }
        Use(target, operation);
        Report((_isInvariant ? null : CultureRules.Of(operation)) ?? ZoneRules.Of(operation));
        Report(_order.Of(operation));
        Report(HashCodeRules.Of(operation));
        Report(StackRules.Of(operation));
        Report(HandlerRules.OfInvocation(operation));
        Follow(target, operation.Instance, operation.IsVirtual, operation.Arguments);
        base.VisitInvocation(operation);
    }

    public override void VisitObjectCreation(IObjectCreationOperation operation)
    {
        if (operation.Constructor is { } constructor)
        {
            Use(constructor, operation);
            Follow(constructor, null, false, operation.Arguments);
            if (!_isInvariant) Report(CultureRules.Of(operation));
            Report(ZoneRules.Of(operation));
        }
        base.VisitObjectCreation(operation);
    }

    public override void VisitPropertyReference(IPropertyReferenceOperation operation)
    {
        if (_state.Note(operation) is { } use) _facts.Uses.Add(use);
        Use(operation.Property, operation);
        _leftOut.Note(operation, _facts);
        (bool reads, bool writes) = Access.Of(operation);
        bool isVirtual = operation.Instance is not IInstanceReferenceOperation { Syntax: BaseExpressionSyntax };
        if (reads && operation.Property.GetMethod is { } get) Follow(get, operation.Instance, isVirtual);
        if (writes && operation.Property.SetMethod is { } set) Follow(set, operation.Instance, isVirtual);
        if (operation.Property.IsStatic) VisitStatic(operation.Property, operation, Symbols.IsAutomatic(operation.Property));
        if (!_isInvariant) Report(CultureRules.Of(operation));
        Report(_order.Of(operation));
        base.VisitPropertyReference(operation);
    }

    public override void VisitFieldReference(IFieldReferenceOperation operation)
    {
        if (_state.Note(operation) is { } use) _facts.Uses.Add(use);
        Use(operation.Field, operation);
        _leftOut.Note(operation, _facts);
        if (operation.Field is { IsStatic: true, IsConst: false }) VisitStatic(operation.Field, operation, true);
        if (!_isInvariant) Report(CultureRules.Of(operation));
        base.VisitFieldReference(operation);
    }

    public override void VisitMethodReference(IMethodReferenceOperation operation)
    {
        Use(operation.Method, operation);
        Follow(operation.Method, operation.Instance, operation.IsVirtual);
        base.VisitMethodReference(operation);
    }

    public override void VisitLocalReference(ILocalReferenceOperation operation)
    {
        if (_functions.OfOther(operation.Local, _isOfTask ? null : _facts) is { } function) FollowFunction(function);
        _leftOut.Note(operation, _facts);
        base.VisitLocalReference(operation);
    }

    public override void VisitIsPattern(IIsPatternOperation operation)
    {
        _state.Note(operation);
        base.VisitIsPattern(operation);
    }

    public override void VisitConversion(IConversionOperation operation)
    {
        Report(ZoneRules.Of(operation));
        Report(_order.Of(operation));
        base.VisitConversion(operation);
    }

    public override void VisitArgument(IArgumentOperation operation)
    {
        Report(_order.Of(operation));
        base.VisitArgument(operation);
    }

    public override void VisitSpread(ISpreadOperation operation)
    {
        Report(_order.Of(operation));
        base.VisitSpread(operation);
    }

    public override void VisitBinaryOperator(IBinaryOperation operation)
    {
        if (!_isInvariant) Report(CultureRules.Of(operation));
        Report(StackRules.Of(operation));
        base.VisitBinaryOperator(operation);
    }

    public override void VisitInterpolation(IInterpolationOperation operation)
    {
        Report((_isInvariant ? null : CultureRules.Of(operation)) ?? ZoneRules.Of(operation));
        Report(StackRules.Of(operation));
        base.VisitInterpolation(operation);
    }

    public override void VisitForEachLoop(IForEachLoopOperation operation)
    {
        if (operation.Syntax is CommonForEachStatementSyntax syntax)
        {
            ForEachStatementInfo info = _model.GetForEachStatementInfo(syntax);
            if (info.GetEnumeratorMethod is { } enumerate) Follow(enumerate, operation.Collection, true);
            FollowHidden(HiddenCalls.Of(info));
            Report(HandlerRules.OfForEach(operation, info));
        }
        Report(_order.Of(operation));
        _state.Note(operation);
        base.VisitForEachLoop(operation);
    }

    public override void VisitReturn(IReturnOperation operation)
    {
        if (!_isInLambda && _state.OriginOf(operation.ReturnedValue) is { } origin) _facts.Returned.Add(origin);
        base.VisitReturn(operation);
    }

    public override void VisitAwait(IAwaitOperation operation)
    {
        Report(HandlerRules.OfAwait(operation));
        base.VisitAwait(operation);
    }

    public override void VisitLock(ILockOperation operation)
    {
        Report(new Fault("AMB104", operation.Syntax.GetFirstToken().GetLocation(), "lock",
            "nothing: handlers run one at a time, and what other threads need goes through impulses"));
        base.VisitLock(operation);
    }

    public override void VisitDynamicInvocation(IDynamicInvocationOperation operation)
    {
        Report(HandlerRules.OfDynamic(operation));
        base.VisitDynamicInvocation(operation);
    }

    public override void VisitDynamicMemberReference(IDynamicMemberReferenceOperation operation)
    {
        if (operation.Parent is not IDynamicInvocationOperation) Report(HandlerRules.OfDynamic(operation));
        base.VisitDynamicMemberReference(operation);
    }

    public override void VisitSimpleAssignment(ISimpleAssignmentOperation operation)
    {
        _state.Note(operation);
        if (operation.Target is ILocalReferenceOperation local)
        {
            _functions.Note(local.Local, operation.Value, _facts);
            _order.Note(local.Local, operation.Value);
            _leftOut.Note(local.Local, operation.Value);
        }
        base.VisitSimpleAssignment(operation);
    }

    public override void VisitVariableDeclarator(IVariableDeclaratorOperation operation)
    {
        _state.Note(operation);
        if (operation.Initializer is { } given)
        {
            _order.Note(operation.Symbol, given.Value);
            _leftOut.Note(operation.Symbol, given.Value);
        }
        if (operation.Initializer is { } initializer && _functions.Note(operation.Symbol, initializer.Value, _facts) is { } function
            && HeldFunctions.IsForTasks(operation.Symbol, operation))
        {
            _facts.Tasks.Add(new CallEdge(function.Symbol));
            Apart(function.Symbol, function.Body);
            return;
        }
        base.VisitVariableDeclarator(operation);
    }

    public override void VisitLocalFunction(ILocalFunctionOperation operation) => Apart(operation.Symbol, operation.Body);

    public override void VisitAnonymousFunction(IAnonymousFunctionOperation operation)
    {
        if (!_isOfTask)
        {
            bool isAround = _isInLambda;
            _isInLambda = true;
            base.VisitAnonymousFunction(operation);
            _isInLambda = isAround;
            return;
        }
        _facts.Tasks.Add(new CallEdge(operation.Symbol));
        Apart(operation.Symbol, operation.Body);
    }

    /// <summary>Adds a fault, if there is one.</summary>
    internal void Report(Fault? fault)
    {
        if (fault is not null) _facts.Faults.Add(fault);
    }

    private void VisitTask(IInvocationOperation operation)
    {
        foreach (IArgumentOperation argument in operation.Arguments)
        {
            bool isAround = _isOfTask;
            _isOfTask = true;
            if ((argument.Value as IDelegateCreationOperation)?.Target is IMethodReferenceOperation reference)
                _facts.Tasks.Add(new CallEdge(_toFirst.Of(reference.Method.OriginalDefinition)));
            else Visit(argument);
            _isOfTask = isAround;
        }
    }

    /// <summary>
    /// Follows a lambda that a local of another body has, as a task does that calls it: it runs in both.
    /// </summary>
    private void FollowFunction(IAnonymousFunctionOperation function)
    {
        if (_isOfTask) _facts.Tasks.Add(new CallEdge(function.Symbol));
        else _facts.Calls.Add(new CallEdge(function.Symbol, Given: s_given));
        if (!_inner.ContainsKey(function.Symbol)) Apart(function.Symbol, function.Body);
    }

    /// <summary>Gives a function facts of its own.</summary>
    private void Apart(IMethodSymbol function, IOperation? body)
    {
        if (body is null) return;
        (MethodFacts around, bool isOfTask, bool isInLambda) = (_facts, _isOfTask, _isInLambda);
        (_inner[function], _isOfTask, _isInLambda) = (_facts = new MethodFacts(), false, false);
        Report(HandlerRules.OfDeclaration(function, body));
        Visit(body);
        (_facts, _isOfTask, _isInLambda) = (around, isOfTask, isInLambda);
    }

    private void VisitStatic(ISymbol member, IOperation operation, bool isStored)
    {
        if (!member.DeclaringSyntaxReferences.IsEmpty)
        {
            Follow(member, null, false);
            foreach (IMethodSymbol constructor in member.ContainingType.StaticConstructors) Follow(constructor, null, false);
        }
        if (isStored) Report(StaticRules.Of(member, operation));
    }

    /// <summary>Reports a member that the framework's list or its author forbids.</summary>
    private void Use(ISymbol member, IOperation operation)
    {
        if (!member.DeclaringSyntaxReferences.IsEmpty && Statement.Of(member) is not { IsDeterministic: false }) return;
        if (Statement.Of(member) is { } said)
        {
            if (!said.IsDeterministic) Report(new Fault("AMB114", Places.Of(operation), Places.NameOf(member), $"something else: {said.Reason}"));
            return;
        }
        if (FrameworkList.Of(member) is not { } verdict || (verdict.Rule == "AMB111" && _isInvariant) || IsOfForbidden(operation)) return;
        Report(new Fault(verdict.Rule, Places.Of(operation), Places.NameOf(member), verdict.Mend));
    }

    /// <summary>Tells whether the object itself comes from a forbidden member, which is enough to be told.</summary>
    private static bool IsOfForbidden(IOperation operation)
    {
        IOperation? owner = operation switch
        {
            IInvocationOperation { TargetMethod.IsExtensionMethod: true } call => call.Arguments.FirstOrDefault()?.Value,
            IInvocationOperation call => call.Instance,
            IMemberReferenceOperation reference => reference.Instance,
            _ => null,
        };
        ISymbol? member = owner is null ? null : HandlerRules.Unconverted(owner) switch
        {
            IInvocationOperation call => call.TargetMethod,
            IMemberReferenceOperation reference => reference.Member,
            _ => null,
        };
        return member is { DeclaringSyntaxReferences.IsEmpty: true } && FrameworkList.Of(member) is not null;
    }

    private void Follow(ISymbol target, IOperation? receiver, bool isVirtual, IEnumerable<IArgumentOperation>? arguments = null)
    {
        if (target is IMethodSymbol { ReducedFrom: { } whole }) target = whole;
        if (target is IMethodSymbol { PartialImplementationPart: { } part }) target = part;
        ISymbol definition = target.OriginalDefinition;
        if (definition.DeclaringSyntaxReferences.IsEmpty && !IsFollowed(definition, isVirtual)) return;
        IReadOnlyList<GivenObject>? given = definition is IMethodSymbol { MethodKind: MethodKind.LocalFunction }
            ? [.. s_given, .. _state.GivenBy(null, arguments) ?? []] : _state.GivenBy(receiver, arguments);
        _facts.Calls.Add(new CallEdge(_toFirst.Of(definition), ReceiverOf(receiver), isVirtual, given));
        if (definition is IMethodSymbol { IsStatic: true } or IMethodSymbol { MethodKind: MethodKind.Constructor })
            foreach (IMethodSymbol first in definition.ContainingType.StaticConstructors)
                if (!first.IsImplicitlyDeclared) _facts.Calls.Add(new CallEdge(_toFirst.Of(first)));
    }

    /// <summary>Returns the class of an object; of one that may be of any class null.</summary>
    private ITypeSymbol? ReceiverOf(IOperation? receiver) => receiver?.Type switch
    {
        { TypeKind: TypeKind.Interface or TypeKind.TypeParameter } => null,
        INamedTypeSymbol type => _toFirst.Of(type.OriginalDefinition),
        var other => other,
    };

    /// <summary>
    /// Tells whether a member without source of its own leads to some: a constructor to initializers, a virtual one to its heirs.
    /// </summary>
    private static bool IsFollowed(ISymbol member, bool isVirtual) => member is IMethodSymbol method
        && (method.MethodKind == MethodKind.Constructor ? !method.ContainingType.DeclaringSyntaxReferences.IsEmpty
            : isVirtual && (method.IsAbstract || method.IsVirtual || method.IsOverride) && CallTargets.MayLeadBack(method.ContainingType));

    /// <summary>Follows what is called without being named; the object decides which method it is.</summary>
    private void FollowHidden(IEnumerable<IMethodSymbol?> methods)
    {
        foreach (IMethodSymbol? method in methods)
            if (method is not null) Follow(method, null, true);
    }
}
