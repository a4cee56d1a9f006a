using System;
using System.Collections;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;

namespace Ambrosia.Generators;

/// <summary>An array that is equal to another by its elements: what lets the driver see that nothing changed.</summary>
internal readonly struct EquatableArray<T>(ImmutableArray<T> items) : IEquatable<EquatableArray<T>>, IEnumerable<T>
    where T : IEquatable<T>
{
    private readonly ImmutableArray<T> items = items;

    internal EquatableArray(IEnumerable<T> items)
        : this(items.ToImmutableArray())
    {
    }

    internal int Count => items.IsDefault ? 0 : items.Length;

    internal T this[int index] => items[index];

    public bool Equals(EquatableArray<T> other) => Count == other.Count && this.SequenceEqual(other);

    public override bool Equals(object? obj) => obj is EquatableArray<T> other && Equals(other);

    public override int GetHashCode()
    {
        int hash = Count;
        foreach (T item in this) hash = unchecked((hash * 31) + (item?.GetHashCode() ?? 0));
        return hash;
    }

    public IEnumerator<T> GetEnumerator() => (items.IsDefault ? Enumerable.Empty<T>() : items).GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
