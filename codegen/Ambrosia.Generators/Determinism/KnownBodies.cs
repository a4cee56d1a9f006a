using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Keeps what bodies do from one compilation to the next, as an editor makes one behind each key that is hit: where an edit changes bodies
/// alone, only those of its files are read again. It speaks of symbols of the first of these compilations. The trees keep it alive.
/// One thread uses it at a time, and none comes back to it from there.
/// </summary>
internal sealed class KnownBodies
{
    /// <summary>The name of the generated file that lists the methods which can be suspended.</summary>
    internal const string Suspendables = "Suspendable";

    private static readonly ConditionalWeakTable<SyntaxTree, KnownBodies> s_byTree = new();

    private readonly Compilation _first;
    private readonly bool _isInvariant;
    private readonly SyntaxTree[] _firstTrees;

    /// <summary>It is 1 while a thread uses it, and 0 otherwise.</summary>
    private int _users;
    private bool _hasMoved;
    private HashSet<string>? _state;

    /// <summary>The trees of which it knows the bodies, in the order of the compilation.</summary>
    private SyntaxTree[] _trees;

    private KnownBodies(Compilation first, bool isInvariant, CancellationToken cancel)
    {
        (_first, _isInvariant, _firstTrees) = (first, isInvariant, [.. first.SyntaxTrees]);
        _trees = [.. _firstTrees];
        Facts = new FactReader(first, isInvariant);
        Targets = new CallTargets(first);
        List<INamedTypeSymbol> types = [.. SourceTypes.Of(first, cancel)];
        Immortals = [.. types.Where(static type => ImmortalTypes.IsImmortal(type))
            .OrderBy(static type => type.ToDisplayString(), StringComparer.Ordinal)];
        Kept = [.. types.SelectMany(FormerBodies.In)];
    }

    internal FactReader Facts { get; }

    internal CallTargets Targets { get; }

    /// <summary>The immortals, in the order of their names.</summary>
    internal ImmutableArray<INamedTypeSymbol> Immortals { get; }

    /// <summary>The methods that nobody calls, and in which suspended calls go on.</summary>
    internal ImmutableArray<IMethodSymbol> Kept { get; }

    /// <summary>Returns the names of the types whose objects are in checkpoints, which are read when they are first asked for.</summary>
    internal HashSet<string> StateTypes(Func<Compilation, IEnumerable<INamedTypeSymbol>> read) =>
        _state ??= [.. read(_first).Select(static each => Symbols.PlainName(each))];

    /// <summary>Knows one compilation, and is kept by nobody.</summary>
    internal static KnownBodies OfBuild(Compilation compilation, bool isInvariant, CancellationToken cancel) =>
        new(compilation, isInvariant, cancel);

    /// <summary>
    /// Does something with what is known of a compilation. Of one that declares something new nothing is known, and nothing is kept where
    /// another thread uses what is known of the one before it.
    /// </summary>
    internal static T With<T>(Compilation compilation, bool isInvariant, Func<KnownBodies, T> use, CancellationToken cancel)
    {
        KnownBodies? known = Find(compilation);
        if (known?.TryBegin() == false) return use(new KnownBodies(compilation, isInvariant, cancel));
        try
        {
            KnownBodies? next = known?.TryGoOn(compilation, isInvariant, cancel);
            if (next is not null) return next == known ? use(next) : next.Begin(use);
        }
        catch (DeclarationsDifferException)
        {
            known!._trees = []; // nothing is known any more
        }
        finally
        {
            if (known is not null) Volatile.Write(ref known._users, 0);
        }
        return new KnownBodies(compilation, isInvariant, cancel).Begin(use);
    }

    private bool TryBegin() => Interlocked.CompareExchange(ref _users, 1, 0) == 0;

    /// <summary>Lets others find it, behind the first use.</summary>
    private T Begin<T>(Func<KnownBodies, T> use)
    {
        TryBegin();
        try
        {
            foreach (SyntaxTree tree in _trees) Remember(tree, this);
            return use(this);
        }
        finally
        {
            Volatile.Write(ref _users, 0);
        }
    }

    private static KnownBodies? Find(Compilation compilation)
    {
        foreach (SyntaxTree tree in compilation.SyntaxTrees)
            if (s_byTree.TryGetValue(tree, out KnownBodies? known)) return known;
        return null;
    }

    /// <summary>
    /// Takes up a compilation, if only bodies differ from what is known. The first one that is taken up stands for those behind it: the one
    /// before it has all bodies in memory, since all were read in it.
    /// </summary>
    private KnownBodies? TryGoOn(Compilation compilation, bool isInvariant, CancellationToken cancel)
    {
        if (isInvariant == _isInvariant && Facts.Reads(compilation) && _trees.Length > 0) return this;
        SyntaxTree[] trees = [.. compilation.SyntaxTrees];
        if (isInvariant != _isInvariant || trees.Length != _trees.Length || !HasTheSameReferences(compilation)) return null;
        List<int> changed = [.. Enumerable.Range(0, trees.Length).Where(place => trees[place] != _trees[place])];
        if (!changed.TrueForAll(place => DeclareTheSame(_trees[place], trees[place], cancel))) return null;
        Facts.GoOn(compilation, [.. changed.Select(place => _trees[place]), .. changed.Select(place => _firstTrees[place])]);
        foreach (int place in changed) Remember(_trees[place] = trees[place], this);
        if (_hasMoved || compilation == _first) return this;
        var moved = new KnownBodies(compilation, isInvariant, cancel) { _hasMoved = true, _state = _state };
        Facts.MoveTo(moved.Facts);
        _trees = [];
        return moved;
    }

    private static void Remember(SyntaxTree tree, KnownBodies known)
    {
        s_byTree.Remove(tree);
        s_byTree.GetValue(tree, _ => known);
    }

    private bool HasTheSameReferences(Compilation compilation) =>
        compilation.Options.Equals(_first.Options) && compilation.References.SequenceEqual(_first.References)
        && compilation.References.All(each =>
            ReferenceEquals(compilation.GetAssemblyOrModuleSymbol(each), _first.GetAssemblyOrModuleSymbol(each)));

    /// <summary>
    /// Tells whether two versions of a file differ in bodies and comments alone. Whether <c>field</c> stands in an accessor decides whether
    /// there is a field, and what the generator notes of bodies that await declares nothing.
    /// </summary>
    private static bool DeclareTheSame(SyntaxTree one, SyntaxTree other, CancellationToken cancel) =>
        one.FilePath == other.FilePath
        && (SyntaxFactory.AreEquivalent(one, other, topLevel: true)
            ? FieldsIn(one, cancel) == FieldsIn(other, cancel) : IsOfSuspendables(one, cancel) && IsOfSuspendables(other, cancel));

    private static int FieldsIn(SyntaxTree tree, CancellationToken cancel) =>
        tree.GetRoot(cancel).DescendantTokens().Count(static each => each.ValueText == "field");

    private static bool IsOfSuspendables(SyntaxTree tree, CancellationToken cancel) =>
        tree.FilePath.EndsWith($"{Suspendables}.g.cs", StringComparison.Ordinal)
        && tree.GetRoot(cancel) is CompilationUnitSyntax { Members.Count: 0 };
}
