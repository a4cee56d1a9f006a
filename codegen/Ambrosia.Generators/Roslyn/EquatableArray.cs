using System;
using System.Collections;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;

namespace Ambrosia.Generators.Roslyn;

/// <summary>
/// An immutable array that equals another by its elements. Models hold these, so that the compiler sees that nothing has changed.
/// </summary>
internal readonly struct EquatableArray<T>(ImmutableArray<T> items) : IEquatable<EquatableArray<T>>, IEnumerable<T>
    where T : IEquatable<T>
{
    private readonly ImmutableArray<T> _items = items;

    internal EquatableArray(IEnumerable<T> items)
        : this(items.ToImmutableArray())
    {
    }

    internal int Count => _items.IsDefault ? 0 : _items.Length;

    internal T this[int index] => _items[index];

    public bool Equals(EquatableArray<T> other) => Count == other.Count && this.SequenceEqual(other);

    public override bool Equals(object? obj) => obj is EquatableArray<T> other && Equals(other);

    public override int GetHashCode()
    {
        int hash = Count;
        foreach (T item in this) hash = unchecked((hash * 31) + (item?.GetHashCode() ?? 0));
        return hash;
    }

    public IEnumerator<T> GetEnumerator() => (_items.IsDefault ? Enumerable.Empty<T>() : _items).GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
