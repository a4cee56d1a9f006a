using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Reads the facts of bodies, each once and only where somebody asks for it. They name symbols of the first compilation; bodies are read in
/// the one that was taken up last. One thread at a time.
/// </summary>
internal sealed class FactReader(Compilation first, bool isInvariant)
{
    private readonly IAssemblySymbol _first = first.Assembly;
    private Compilation _compilation = first;
    private Counterparts _toLast = Counterparts.None, _toFirst = Counterparts.None;

    private readonly Dictionary<ISymbol, MethodFacts> _known = new(SymbolEqualityComparer.Default);

    private readonly Dictionary<IMethodSymbol, bool> _givesOut = new(SymbolEqualityComparer.Default);

    /// <summary>The methods of which it is being found out.</summary>
    private readonly HashSet<IMethodSymbol> _asked = new(SymbolEqualityComparer.Default);

    /// <summary>The number of bodies that were read, by it and by the one before it.</summary>
    internal int BodiesRead { get; private set; }

    /// <summary>Returns the facts of a method, function or static field.</summary>
    internal MethodFacts Of(ISymbol member, CancellationToken cancel)
    {
        if (_known.TryGetValue(member, out MethodFacts? known)) return known;
        var facts = new MethodFacts();
        ISymbol here = _toLast.Of(member);
        foreach (SyntaxReference reference in here.DeclaringSyntaxReferences) Read(here, reference.GetSyntax(cancel), facts, cancel);
        if (here is IMethodSymbol { MethodKind: MethodKind.Constructor } constructor) ReadInitializers(constructor, facts, cancel);
        return _known[member] = facts;
    }

    /// <summary>Tells whether it reads bodies in this compilation.</summary>
    internal bool Reads(Compilation compilation) => compilation == _compilation;

    /// <summary>Takes up a compilation of the same declarations, and forgets what it knows of the bodies in these trees.</summary>
    internal void GoOn(Compilation compilation, HashSet<SyntaxTree> changed)
    {
        if (compilation == _compilation) return;
        _compilation = compilation;
        (_toLast, _toFirst) = (new Counterparts(_first, compilation.Assembly), new Counterparts(compilation.Assembly, _first));
        if (changed.Count == 0) return;
        _givesOut.Clear();
        bool IsIn(ISymbol symbol) => symbol.DeclaringSyntaxReferences.Any(each => changed.Contains(each.SyntaxTree));
        foreach (ISymbol member in _known.Keys.Where(each => IsIn(each)
            || (each is IMethodSymbol { MethodKind: MethodKind.Constructor } && IsIn(each.ContainingType))).ToList()) _known.Remove(member);
    }

    /// <summary>
    /// Tells whether an object is of the state where these slots are: all methods that gave it out give out what they have.
    /// </summary>
    internal bool IsOfState(ObjectOrigin origin, ulong slots, CancellationToken cancel)
    {
        if (!origin.IsOfState(slots)) return false;
        for (GivenOut? by = origin.By; by is not null; by = by.Before)
            if (!GivesOutItsOwn(by.Method, cancel)) return false;
        return true;
    }

    /// <summary>Tells whether a method may return a part of its object, and no copy of it. Whoever may be another method does.</summary>
    private bool GivesOutItsOwn(IMethodSymbol method, CancellationToken cancel)
    {
        if (_givesOut.TryGetValue(method, out bool known)) return known;
        if (method.IsAbstract || method.IsVirtual || method.IsOverride || method.DeclaringSyntaxReferences.IsEmpty) return true;
        if (!_asked.Add(method)) return false; // what it returns of itself it has from elsewhere
        try
        {
            bool givesOut = Of(method.PartialImplementationPart ?? method, cancel).Returned.Any(each => IsOfState(each, 1, cancel));
            if (givesOut || _asked.Count == 1) _givesOut[method] = givesOut; // no depends on who was asked before
            return givesOut;
        }
        finally
        {
            _asked.Remove(method);
        }
    }

    /// <summary>
    /// Hands what it knows to a reader whose first compilation is the one that this one has taken up. Functions within bodies are left
    /// to be read again, with the bodies in which they stand.
    /// </summary>
    internal void MoveTo(FactReader next)
    {
        next.BodiesRead = BodiesRead;
        foreach (KeyValuePair<ISymbol, MethodFacts> each in _known)
            if (!IsWithin(each.Key) && !each.Value.Calls.Concat(each.Value.Tasks).Any(static call => IsWithin(call.Target)))
                next._known[_toLast.Of(each.Key)] = each.Value.In(_toLast);
        _known.Clear();
    }

    private static bool IsWithin(ISymbol member) =>
        member is IMethodSymbol { MethodKind: MethodKind.LocalFunction or MethodKind.AnonymousFunction };

    private void Read(ISymbol member, SyntaxNode syntax, MethodFacts facts, CancellationToken cancel)
    {
        SyntaxNode? body = syntax switch
        {
            TypeDeclarationSyntax => null, // a record's or primary constructor: its initializers are read
            VariableDeclaratorSyntax { Initializer: { } initializer } => initializer,
            PropertyDeclarationSyntax { Initializer: { } initializer } => initializer,
            PropertyDeclarationSyntax or VariableDeclaratorSyntax or EnumMemberDeclarationSyntax => null,
            _ => syntax,
        };
        if (body is not null) Read(body, facts, member as IMethodSymbol, cancel);
    }

    private void Read(SyntaxNode body, MethodFacts facts, IMethodSymbol? method, CancellationToken cancel)
    {
        if (!_compilation.ContainsSyntaxTree(body.SyntaxTree)) return;
#pragma warning disable RS1030 // the model is the driver's own, which it keeps; bodies are followed across files
        SemanticModel model = _compilation.GetSemanticModel(body.SyntaxTree);
#pragma warning restore RS1030
        if (model.GetOperation(body, cancel) is not { } operation) return;
        BodiesRead++;
        var collector = new FactCollector(model, facts, _known, _toFirst, isInvariant);
        if (method is not null) collector.Report(HandlerRules.OfDeclaration(method, operation));
        collector.Visit(operation);
    }

    /// <summary>
    /// Adds what runs ahead of a constructor's body: the initializers of fields and properties, and the constructor of the base.
    /// </summary>
    private void ReadInitializers(IMethodSymbol constructor, MethodFacts facts, CancellationToken cancel)
    {
        SyntaxNode? declaration = constructor.DeclaringSyntaxReferences.FirstOrDefault()?.GetSyntax(cancel);
        ConstructorInitializerSyntax? given = (declaration as ConstructorDeclarationSyntax)?.Initializer;
        if (given is { ThisOrBaseKeyword.RawKind: (int)Microsoft.CodeAnalysis.CSharp.SyntaxKind.ThisKeyword }) return;
        foreach (ISymbol member in constructor.ContainingType.GetMembers().Where(static each => !each.IsStatic))
        {
            if (member is not (IFieldSymbol { IsImplicitlyDeclared: false } or IPropertySymbol)) continue;
            foreach (SyntaxReference reference in member.DeclaringSyntaxReferences)
            {
                if (reference.GetSyntax(cancel) is VariableDeclaratorSyntax or PropertyDeclarationSyntax)
                    Read(member, reference.GetSyntax(cancel), facts, cancel);
            }
        }
        PrimaryConstructorBaseTypeSyntax? passed = (declaration as TypeDeclarationSyntax)?.BaseList?.Types
            .OfType<PrimaryConstructorBaseTypeSyntax>().FirstOrDefault();
        if (passed is not null) Read(passed, facts, null, cancel);
        if (given is null && passed is null && constructor.ContainingType.BaseType is { } parent
            && parent.InstanceConstructors.FirstOrDefault(static each => each.Parameters.Length == 0) is { } inherited)
            facts.Calls.Add(new CallEdge(_toFirst.Of(inherited.OriginalDefinition)));
    }
}
