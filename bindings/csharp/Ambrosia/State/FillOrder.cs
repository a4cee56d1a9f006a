using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Finds the order in which the collections of an image are filled whose keys are hashed or compared: each behind all those that its keys
/// look into, so that no code of the app is called on an object that is not whole. A reader that fills objects reports each reference here.
/// It takes 36 bytes an object and 4 a reference, and only where an image has keys that can look into such a collection
/// (<see cref="KeyReach"/>). One thread.
/// </summary>
internal sealed class FillOrder
{
    /// <summary>
    /// The nodes of an object: seen by code of the app, hashed as a key, compared as a key, and filled. An arrow leads from a node to
    /// those that must be whole before.
    /// </summary>
    private const int Seen = 0, Hashed = 1, Compared = 2, Filled = 3, Nodes = 4;

    private readonly object?[] _objects;

    /// <summary>The first place in <see cref="_targets"/> of each object; the next object's is the end.</summary>
    private readonly int[] _starts;
    private readonly List<int> _targets = [], _keyTargets = [];
    private readonly Dictionary<int, KeyedCollection> _collections = [];

    /// <summary>The object whose references are being reported.</summary>
    private int _current = -1;
    private bool _isInKey;

    private int[] _index = [], _low = [];
    private readonly Stack<(int Node, int Next)> _path = new();
    private readonly Stack<int> _open = new();
    private int _visited;

    internal FillOrder(object?[] objects)
    {
        _objects = objects;
        _starts = new int[objects.Length + 1];
    }

    /// <summary>References of this object follow. Objects come in the order of their ids; those left out have none.</summary>
    internal void Begin(int id)
    {
        while (_current < id) _starts[++_current] = _targets.Count;
    }

    /// <summary>The references of this collection follow.</summary>
    internal void Begin(int id, ObjectShape shape)
    {
        Begin(id);
        _collections.Add(id, new KeyedCollection(shape, _keyTargets.Count));
    }

    /// <summary>Reads the elements of a collection, and takes what they refer to for references of keys.</summary>
    /// <param name="items">The length of the collection's array, of which the first item is its comparer.</param>
    internal void Elements<T>(GraphReader graph, ref CborReader from, int items, Slot<T> slot)
    {
        _isInKey = true;
        for (int i = 1; i < items; i++)
        {
            graph.MoveOn(ref from);
            slot.Read(graph, ref from);
        }
        _isInKey = false;
    }

    /// <summary>Reads the pairs of a map, and takes what their keys refer to for references of keys.</summary>
    /// <param name="items">The length of the map's array, of which the first item is its comparer.</param>
    internal void Pairs<TKey, TValue>(GraphReader graph, ref CborReader from, int items, Slot<TKey> keys, Slot<TValue> values)
    {
        for (int i = 1; i + 1 < items; i += 2)
        {
            graph.MoveOn(ref from);
            _isInKey = true;
            keys.Read(graph, ref from);
            _isInKey = false;
            values.Read(graph, ref from);
        }
    }

    /// <summary>The object refers to another.</summary>
    internal void Refer(int target)
    {
        _targets.Add(target);
        if (_isInKey) _keyTargets.Add(target);
    }

    /// <summary>
    /// Returns the collections group by group, in the order in which they can be filled. Those of one group look into each other, as far
    /// as is known: such a group has several members, or is one collection that its own keys reach.
    /// </summary>
    internal List<FillGroup> Find()
    {
        Begin(_objects.Length);
        int end = _keyTargets.Count;
        foreach ((int id, KeyedCollection each) in _collections.Reverse())
        {
            each.KeysEnd = end;
            end = each.KeysStart;
        }
        _index = new int[checked(Nodes * _objects.Length)];
        _low = new int[_index.Length];
        var groups = new List<FillGroup>();
        foreach (int id in _collections.Keys.Order()) Visit(id * Nodes + Filled, groups);
        return groups;
    }

    /// <summary>
    /// Finds the strongly connected groups behind a node, each behind those that it leads to (Tarjan's algorithm), without recursion.
    /// </summary>
    private void Visit(int root, List<FillGroup> groups)
    {
        if (_index[root] != 0) return;
        Enter(root);
        while (_path.TryPop(out (int Node, int Next) at))
        {
            if (TargetOf(at.Node, at.Next) is { } target)
            {
                _path.Push((at.Node, at.Next + 1));
                if (_index[target] == 0) Enter(target);
                else if (_index[target] > 0) _low[at.Node] = Math.Min(_low[at.Node], _index[target]);
                continue;
            }
            if (_low[at.Node] == _index[at.Node]) Close(at.Node, groups);
            if (_path.TryPeek(out (int Node, int Next) parent)) _low[parent.Node] = Math.Min(_low[parent.Node], _low[at.Node]);
        }
    }

    private void Enter(int node)
    {
        _index[node] = _low[node] = ++_visited;
        _path.Push((node, 0));
        _open.Push(node);
    }

    /// <summary>All nodes above this one are a group. They are out of the game, which a negative index says.</summary>
    private void Close(int node, List<FillGroup> groups)
    {
        var group = new List<int>();
        int member;
        do
        {
            member = _open.Pop();
            _index[member] = -1;
            group.Add(member);
        }
        while (member != node);
        int[] filled = [.. group.Where(static each => each % Nodes == Filled).Select(static each => each / Nodes)];
        if (filled.Length > 0) groups.Add(new FillGroup(filled, group.Count > 1));
        _low[node] = int.MaxValue;
    }

    /// <summary>Returns the node to which an arrow leads, or null if the node has no more arrows.</summary>
    private int? TargetOf(int node, int next)
    {
        int id = node / Nodes;
        int start = _starts[id], end = _starts[id + 1];
        switch (node % Nodes)
        {
            case Filled:
                KeyedCollection filled = _collections[id];
                if (filled.KeysStart + next >= filled.KeysEnd) return null;
                return _keyTargets[filled.KeysStart + next] * Nodes + filled.KindOfKeys;
            case Seen:
                if (start + next < end) return _targets[start + next] * Nodes + Seen;
                return start + next == end && _collections.ContainsKey(id) ? id * Nodes + Filled : null;
            case var kind:
                KeyLook look = _objects[id] is not { } key ? KeyLook.Nothing
                    : kind == Compared ? KeyLooks.OfOrder(key.GetType()) : KeyLooks.OfHash(key.GetType());
                if (look == KeyLook.Everything) return next == 0 ? id * Nodes + Seen : null;
                return look == KeyLook.Fields && start + next < end ? _targets[start + next] * Nodes + kind : null;
        }
    }

    /// <summary>Says where the references of a collection's keys stand, and how its keys are looked at.</summary>
    private sealed class KeyedCollection(ObjectShape shape, int keysStart)
    {
        internal int KeysStart => keysStart;

        internal int KeysEnd { get; set; }

        /// <summary>The node at which the objects stand that a key refers to: a struct of the app may look at all of them.</summary>
        internal int KindOfKeys { get; } = KindOf(shape.KeyType!, shape.ComparesKeys);

        private static int KindOf(Type key, bool isCompared)
        {
            KeyLook look = !key.IsValueType ? KeyLook.Fields : isCompared ? KeyLooks.OfOrder(key) : KeyLooks.OfHash(key);
            return look == KeyLook.Everything ? Seen : isCompared ? Compared : Hashed;
        }
    }
}

/// <summary>Names collections that are filled together.</summary>
/// <param name="IsCycle">Their keys look into them, as far as is known.</param>
internal readonly record struct FillGroup(int[] Ids, bool IsCycle);

/// <summary>
/// Says by the types of an image whether a key can look into a collection whose own keys are hashed or compared. Where none can, the order
/// of filling does not matter.
/// </summary>
/// <param name="shapeOf">The shapes of the rows of which the image has objects.</param>
internal sealed class KeyReach(ImageTypes types, ObjectShape?[] shapeOf, GraphReader graph)
{
    private readonly HashSet<(Type Type, KeyUse Use)> _seen = [];
    private readonly Stack<(Type Type, KeyUse Use)> _left = new();

    /// <summary>Says who looks at an object: one of the default comparers, or code of the app.</summary>
    private enum KeyUse
    {
        Hash, Order, Everything,
    }

    internal bool IsAny()
    {
        foreach (ObjectShape? each in shapeOf)
            if (IsKeyed(each)) Add(each!.KeyType!, each.ComparesKeys ? KeyUse.Order : KeyUse.Hash);
        while (_left.TryPop(out (Type Type, KeyUse Use) at))
        {
            if (at.Type.IsValueType)
            {
                if (LooksInto(at.Type, at.Use)) return true;
                continue;
            }
            for (int row = 0; row < types.Count; row++)
                if (shapeOf[row] is not null && types[(ulong)row].Type is { } type && at.Type.IsAssignableFrom(type)
                    && LooksInto(type, at.Use, shapeOf[row])) return true;
        }
        return false;
    }

    private bool IsKeyed(ObjectShape? shape) => shape is { IsFilledLast: true } && !shape.IsMadeWhole(graph);

    private void Add(Type type, KeyUse use)
    {
        if (KeyLooks.IsPlain(type) || !_seen.Add((type, use))) return;
        _left.Push((type, use));
    }

    private bool LooksInto(Type type, KeyUse use, ObjectShape? shape = null)
    {
        KeyLook look = use switch
        {
            KeyUse.Hash => KeyLooks.OfHash(type),
            KeyUse.Order => KeyLooks.OfOrder(type),
            _ => KeyLook.Everything,
        };
        if (look == KeyLook.Nothing) return false;
        if (look == KeyLook.Everything && IsKeyed(shape)) return true;
        KeyUse next = look == KeyLook.Everything ? KeyUse.Everything : use;
        foreach (Type part in PartsOf(type)) Add(part, next);
        return false;
    }

    private static IEnumerable<Type> PartsOf(Type type)
    {
        if (type.IsArray) return [type.GetElementType()!];
        if (typeof(Delegate).IsAssignableFrom(type)) return [typeof(object)];
        if (type.IsGenericType && ObjectShapes.IsOfSystem(type)) return
            [.. type.GetGenericArguments(), .. type.GetGenericArguments().Select(static each => each.MakeArrayType())];
        return StateFields.Of(type).Select(static field => field.FieldType);
    }
}
