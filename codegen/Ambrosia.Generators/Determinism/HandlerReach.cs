using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using System.Threading;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// Follows the calls of handlers, of queries and of tasks through everything that the compilation declares, and gathers what each may not
/// do. A fault that several handlers reach is reported once, with the way from the first of them in the order of their names. One thread.
/// </summary>
internal sealed class HandlerReach(KnownBodies known)
{
    private const string Arrow = " → ", TaskRule = "AMB124", QueryRule = "AMB125",
        TaskMend = "what was read into a local before the task, its result, or a proxy, which sends an impulse from there",
        QueryMend = "a method that is no query, or [NotState] for what is only kept at hand";

    private readonly FactReader _facts = known.Facts;
    private readonly Dictionary<(string Rule, Location Place), Diagnostic> _found = [];

    /// <summary>Returns the diagnostics of the compilation by their trees.</summary>
    internal static ILookup<SyntaxTree, Diagnostic> Find(Compilation compilation, bool isInvariant, CancellationToken cancel) =>
        KnownBodies.With(compilation, isInvariant, known => Of(known, cancel).ToLookup(static each => each.Location.SourceTree!), cancel);

    /// <summary>Returns the diagnostics of a compilation of which the bodies are known, or are read now.</summary>
    internal static IReadOnlyCollection<Diagnostic> Of(KnownBodies known, CancellationToken cancel)
    {
        var reach = new HandlerReach(known);
        if (known.Immortals.Length > 0) reach.Walk(known.Immortals, known.Kept, cancel);
        return reach._found.Values;
    }

    /// <param name="kept">Methods that nobody calls, and in which suspended calls go on.</param>
    private void Walk(ImmutableArray<INamedTypeSymbol> immortals, ImmutableArray<IMethodSymbol> kept, CancellationToken cancel)
    {
        var handlers = new Dictionary<Node, Node?>();
        var tasks = new List<CallEdge>();
        var counted = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
        var sent = new List<(ISymbol Member, Fault Fault, Node Node)>();
        IEnumerable<ISymbol> executed = immortals.SelectMany(static each => ImmortalTypes.Roots(each, queries: false)).Concat(kept);
        foreach (Node node in Reached(executed, handlers, isTold: false, cancel))
        {
            MethodFacts facts = _facts.Of(node.Member, cancel);
            tasks.AddRange(facts.Tasks);
            foreach (Fault fault in facts.Faults) Report(fault, node, handlers);
            counted.UnionWith(facts.Counted);
            foreach ((ISymbol member, Fault fault) in facts.Sent) sent.Add((member, fault, node));
        }
        foreach ((ISymbol member, Fault fault, Node node) in sent)
            if (counted.Contains(member)) Report(fault, node, handlers);

        var bodies = new Dictionary<Node, Node?>();
        IEnumerable<ISymbol> beside = tasks.Select(static each => each.Target.OriginalDefinition)
            .Concat(immortals.SelectMany(ImmortalTypes.Beside));
        foreach (Node node in Reached(beside, bodies, isTold: true, cancel))
            foreach (StateUse use in _facts.Of(node.Member, cancel).Uses)
                if (_facts.IsOfState(use.Origin, node.Slots, cancel)
                    && (use.Kind is StateUseKind.Read or StateUseKind.Write or StateUseKind.HandlerOnly || IsBegun(use)))
                    Report(new Fault(TaskRule, use.Place, use.What, TaskMend), node, bodies);

        var queries = new Dictionary<Node, Node?>();
        foreach (Node node in Reached(immortals.SelectMany(static each => ImmortalTypes.Roots(each, queries: true)), queries,
            isTold: true, cancel))
            foreach (StateUse use in _facts.Of(node.Member, cancel).Uses)
                if (use.Kind is StateUseKind.Write or StateUseKind.Send && _facts.IsOfState(use.Origin, node.Slots, cancel))
                    Report(new Fault(QueryRule, use.Place, use.What, QueryMend), node, queries);
    }

    /// <summary>Proxies send impulses from the body of a task, and what begins something else is refused there.</summary>
    private static bool IsBegun(StateUse use) =>
        use.Kind == StateUseKind.Send && use.What.StartsWith("Immortal.", System.StringComparison.Ordinal);

    /// <summary>Gives everything that is reached, nearest first, and remembers from where.</summary>
    /// <param name="isTold">Whether it matters what a body is given of the state; it comes once where it does not.</param>
    private IEnumerable<Node> Reached(
        IEnumerable<ISymbol> roots, Dictionary<Node, Node?> from, bool isTold, CancellationToken cancel)
    {
        var open = new Queue<Node>();
        void Take(Node node, Node? by)
        {
            if (from.ContainsKey(node) || ImmortalTypes.IsProxy(node.Member.ContainingType)) return;
            from.Add(node, by);
            open.Enqueue(node);
        }

        foreach (ISymbol root in roots) Take(new Node(root.OriginalDefinition, 0), null);
        while (open.Count > 0)
        {
            cancel.ThrowIfCancellationRequested();
            Node node = open.Dequeue();
            if (Statement.Of(node.Member) is not null) continue; // its author answers for it; where it is used, that is judged
            yield return node;
            foreach (CallEdge edge in _facts.Of(node.Member, cancel).Calls)
            {
                ulong slots = 0;
                foreach (GivenObject each in edge.Given ?? [])
                    if (isTold && _facts.IsOfState(each.Origin, node.Slots, cancel)) slots |= 1UL << each.Slot;
                foreach (ISymbol target in known.Targets.Of(edge, cancel)) Take(new Node(target, slots), node);
            }
        }
    }

    private void Report(Fault fault, Node node, Dictionary<Node, Node?> from)
    {
        if (fault.Place.SourceTree is null || _found.ContainsKey((fault.Rule, fault.Place))) return;
        var way = new List<string>();
        for (Node? at = node; at is { } step; at = from[step]) way.Insert(0, Places.NameOf(step.Member));
        _found.Add((fault.Rule, fault.Place),
            Diagnostic.Create(DeterminismRules.ById[fault.Rule], fault.Place, fault.What, string.Join(Arrow, way), fault.Mend));
    }

    /// <summary>It is a body that is executed, with the slots to which objects of the state are given.</summary>
    private readonly struct Node(ISymbol member, ulong slots) : System.IEquatable<Node>
    {
        internal ISymbol Member => member;

        internal ulong Slots => slots;

        public bool Equals(Node other) => Slots == other.Slots && SymbolEqualityComparer.Default.Equals(Member, other.Member);

        public override bool Equals(object? other) => other is Node node && Equals(node);

        public override int GetHashCode() => SymbolEqualityComparer.Default.GetHashCode(member) ^ slots.GetHashCode();
    }
}
