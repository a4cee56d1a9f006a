using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Reads the facts of bodies of one compilation, each once and only where somebody asks for it. One thread.
/// </summary>
internal sealed class FactReader(Compilation compilation, bool isInvariant)
{
    private readonly Dictionary<ISymbol, MethodFacts> _known = new(SymbolEqualityComparer.Default);

    private readonly Dictionary<IMethodSymbol, bool> _givesOut = new(SymbolEqualityComparer.Default);

    /// <summary>Returns the facts of a method, function or static field.</summary>
    internal MethodFacts Of(ISymbol member, CancellationToken cancel)
    {
        if (_known.TryGetValue(member, out MethodFacts? known)) return known;
        _known[member] = MethodFacts.None; // until it is read: a member leads to itself
        var facts = new MethodFacts();
        foreach (SyntaxReference reference in member.DeclaringSyntaxReferences) Read(member, reference.GetSyntax(cancel), facts, cancel);
        if (member is IMethodSymbol { MethodKind: MethodKind.Constructor } constructor) ReadInitializers(constructor, facts, cancel);
        return _known[member] = facts;
    }

    /// <summary>Tells whether an object is of the state where these slots are: all methods that gave it out give out what they have.</summary>
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
        _givesOut[method] = false; // until it is known: what it returns of itself it has from elsewhere
        return _givesOut[method] = Of(method.PartialImplementationPart ?? method, cancel).Returned.Any(each => IsOfState(each, 1, cancel));
    }

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
        if (!compilation.ContainsSyntaxTree(body.SyntaxTree)) return;
#pragma warning disable RS1030 // the model is the driver's own, which it keeps; bodies are followed across files
        SemanticModel model = compilation.GetSemanticModel(body.SyntaxTree);
#pragma warning restore RS1030
        if (model.GetOperation(body, cancel) is not { } operation) return;
        var collector = new FactCollector(model, facts, _known, isInvariant);
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
            facts.Calls.Add(new CallEdge(inherited.OriginalDefinition));
    }
}
