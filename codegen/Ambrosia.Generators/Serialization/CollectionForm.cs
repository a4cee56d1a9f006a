using System.Collections.Generic;
using System.Linq;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// It says how generated code takes a collection apart and makes it again. On the wire each is a list or a map; the type decides how its
/// elements are enumerated and which object is made of them.
/// </summary>
/// <param name="Count">Expression of the number of elements of <c>value</c>.</param>
/// <param name="Each">Expression of the elements of <c>value</c>.</param>
/// <param name="Make">Expression of an empty collection that takes the elements; <c>count</c> is their number.</param>
/// <param name="Finish">Expression of the collection that is made of the one that has taken them, <c>items</c>.</param>
internal sealed record CollectionForm(string Count, string Each, string Make, string Finish)
{
    private const string Generic = "global::System.Collections.Generic.", Immutable = "global::System.Collections.Immutable.",
        Frozen = "global::System.Collections.Frozen.", Ordinal = "global::System.StringComparer.Ordinal";

    /// <summary>The collections that travel as lists, and what is made of those that arrive.</summary>
    private static readonly Dictionary<string, string> s_lists = new()
    {
        ["System.Collections.Generic.List<T>"] = "List", ["System.Collections.Generic.IList<T>"] = "List",
        ["System.Collections.Generic.IReadOnlyList<T>"] = "List", ["System.Collections.Generic.ICollection<T>"] = "List",
        ["System.Collections.Generic.IReadOnlyCollection<T>"] = "List",
        ["System.Collections.Generic.HashSet<T>"] = "HashSet", ["System.Collections.Generic.ISet<T>"] = "HashSet",
        ["System.Collections.Generic.IReadOnlySet<T>"] = "HashSet", ["System.Collections.Generic.SortedSet<T>"] = "SortedSet",
        ["System.Collections.Immutable.ImmutableArray<T>"] = "ImmutableArray",
        ["System.Collections.Immutable.ImmutableList<T>"] = "ImmutableList",
        ["System.Collections.Immutable.IImmutableList<T>"] = "ImmutableList",
        ["System.Collections.Immutable.ImmutableSortedSet<T>"] = "ImmutableSortedSet",
        ["System.Collections.Immutable.ImmutableHashSet<T>"] = "ImmutableHashSet",
        ["System.Collections.Immutable.IImmutableSet<T>"] = "ImmutableHashSet",
        ["System.Collections.Frozen.FrozenSet<T>"] = "FrozenSet",
    };

    private static readonly Dictionary<string, string> s_maps = new()
    {
        ["System.Collections.Generic.Dictionary<TKey, TValue>"] = "Dictionary",
        ["System.Collections.Generic.IDictionary<TKey, TValue>"] = "Dictionary",
        ["System.Collections.Generic.IReadOnlyDictionary<TKey, TValue>"] = "Dictionary",
        ["System.Collections.Generic.SortedDictionary<TKey, TValue>"] = "SortedDictionary",
        ["System.Collections.Immutable.ImmutableSortedDictionary<TKey, TValue>"] = "ImmutableSortedDictionary",
        ["System.Collections.Immutable.ImmutableDictionary<TKey, TValue>"] = "ImmutableDictionary",
        ["System.Collections.Immutable.IImmutableDictionary<TKey, TValue>"] = "ImmutableDictionary",
        ["System.Collections.Frozen.FrozenDictionary<TKey, TValue>"] = "FrozenDictionary",
    };

    /// <summary>
    /// The interfaces behind which any object may stand. Those with an index are not among them: an index is an order.
    /// </summary>
    private static readonly HashSet<string> s_asked =
    [
        "System.Collections.Generic.ICollection<T>", "System.Collections.Generic.IReadOnlyCollection<T>",
        "System.Collections.Generic.ISet<T>", "System.Collections.Generic.IReadOnlySet<T>",
        "System.Collections.Generic.IDictionary<TKey, TValue>", "System.Collections.Generic.IReadOnlyDictionary<TKey, TValue>",
    ];

    /// <summary>It says whose order the elements travel in.</summary>
    internal TravelOrder Order { get; private init; }

    /// <summary>
    /// It is the expression that compares the elements <c>a</c> and <c>b</c> where they travel in the order of their values; null where
    /// only their bytes have an order.
    /// </summary>
    internal string? Comparison { get; private init; }

    internal static bool IsList(string definition) => s_lists.ContainsKey(definition);

    internal static bool IsMap(string definition) => s_maps.ContainsKey(definition);

    /// <summary>Returns the form of a list; null where the order of its elements is that of hash codes and they have no other.</summary>
    internal static CollectionForm? OfList(string definition, TypeModel item)
    {
        string list = $"new {Generic}List<{item.Name}>(count)", order = OrderOf(item);
        CollectionForm? form = s_lists[definition] switch
        {
            "HashSet" => Plain($"new {Generic}HashSet<{item.Name}>(count)"),
            "SortedSet" or "ImmutableSortedSet" when IsOfCulture(item) => null,
            "SortedSet" => Of(list, $"new {Generic}SortedSet<{item.Name}>(items{order})"),
            "ImmutableArray" => new("(value.IsDefault ? 0 : value.Length)", $"(value.IsDefault ? {Immutable}ImmutableArray<{item.Name}>.Empty : value)",
                list, $"{Immutable}ImmutableArray.CreateRange(items)"),
            "ImmutableList" => Of(list, $"{Immutable}ImmutableList.CreateRange(items)"),
            "ImmutableSortedSet" => Of(list, $"{Immutable}ImmutableSortedSet.CreateRange({(order.Length == 0 ? "" : Ordinal + ", ")}items)"),
            "ImmutableHashSet" => Hashed(item, list, $"{Immutable}ImmutableHashSet.CreateRange(items)"),
            "FrozenSet" => Hashed(item, list, $"{Frozen}FrozenSet.ToFrozenSet(items)"),
            _ => Plain(list),
        };
        return form?.With(definition, item, ["a", "b"]);
    }

    /// <summary>Returns the form of a map; null where the order of its keys is that of hash codes and they have no other.</summary>
    internal static CollectionForm? OfMap(string definition, TypeModel key, TypeModel content)
    {
        string arguments = $"<{key.Name}, {content.Name}>", map = $"new {Generic}Dictionary{arguments}()", order = OrderOf(key);
        CollectionForm? form = s_maps[definition] switch
        {
            "SortedDictionary" or "ImmutableSortedDictionary" when IsOfCulture(key) => null,
            "SortedDictionary" => Plain($"new {Generic}SortedDictionary{arguments}({(order.Length == 0 ? "" : Ordinal)})"),
            "ImmutableSortedDictionary" => Of(map,
                $"{Immutable}ImmutableSortedDictionary.CreateRange({(order.Length == 0 ? "" : Ordinal + ", ")}items)"),
            "ImmutableDictionary" => Hashed(key, map, $"{Immutable}ImmutableDictionary.CreateRange(items)"),
            "FrozenDictionary" => Hashed(key, map, $"{Frozen}FrozenDictionary.ToFrozenDictionary(items)"),
            _ => Plain(map),
        };
        return form?.With(definition, key, ["a.Key", "b.Key"]);
    }

    private static CollectionForm Plain(string make) => Of(make, "items");

    private static CollectionForm Of(string make, string finish) => new("value.Count", "value", make, finish);

    /// <summary>
    /// The order of these collections is that of hash codes, which differ from process to process; what travels is under the hashes of
    /// channels, so it is put into the order of the values.
    /// </summary>
    private static CollectionForm? Hashed(TypeModel by, string make, string finish) =>
        IsComparable(by) ? Of(make, finish) with { Order = TravelOrder.Values } : null;

    /// <summary>
    /// An interface says nothing of the order, so the object itself is asked. A sorted collection of texts without a comparer has the order
    /// of the process's culture, and the receiver sorts again, so the texts travel in the order of their code units.
    /// </summary>
    private CollectionForm With(string definition, TypeModel by, string[] keys) => this with
    {
        Order = s_asked.Contains(definition) ? TravelOrder.Asked
            : by.Shape == Shape.Text && definition.Contains("Sorted") ? TravelOrder.Values : Order,
        Comparison = by.Shape == Shape.Text ? $"{Ordinal}.Compare({keys[0]}, {keys[1]})"
            : IsComparable(by) ? $"{Generic}Comparer<{by.Name}>.Default.Compare({keys[0]}, {keys[1]})" : null,
    };

    private static bool IsComparable(TypeModel by) => by.Shape is Shape.Simple or Shape.Enum || by is { Shape: Shape.Text, IsNullable: false };

    /// <summary>Returns true of tuples with texts, which they compare as the culture of the process does.</summary>
    private static bool IsOfCulture(TypeModel type) => type.Shape switch
    {
        Shape.Tuple => type.Inner.Any(static each => each.Shape == Shape.Text || IsOfCulture(each)),
        Shape.NullableValue => IsOfCulture(type.Inner[0]),
        _ => false,
    };

    /// <summary>Texts are ordered by their code units, whatever the culture of the process is.</summary>
    private static string OrderOf(TypeModel type) => type.Shape == Shape.Text ? $", {Ordinal}" : "";
}

/// <summary>It says in which order the elements of a collection travel.</summary>
internal enum TravelOrder
{
    /// <summary>The collection's own order, which follows from what was done to it.</summary>
    Own,

    /// <summary>The order of the values, since the collection's own is that of hash codes.</summary>
    Values,

    /// <summary>The object at run time decides between the two.</summary>
    Asked,
}
