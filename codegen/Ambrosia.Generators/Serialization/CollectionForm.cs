using System.Collections.Generic;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// It says how generated code takes a collection apart and makes it again. On the wire each is a list or a map; the type decides how its
/// elements are enumerated and which object is made of them.
/// </summary>
/// <param name="Count">Expression of the number of elements of <c>value</c>.</param>
/// <param name="Each">Expression of the elements of <c>value</c>, in the order in which they travel.</param>
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

    internal static bool IsList(string definition) => s_lists.ContainsKey(definition);

    internal static bool IsMap(string definition) => s_maps.ContainsKey(definition);

    /// <summary>Returns the form of a list; null where the order of its elements is that of hash codes and they have no other.</summary>
    internal static CollectionForm? OfList(string definition, TypeModel item)
    {
        string list = $"new {Generic}List<{item.Name}>(count)", order = OrderOf(item);
        return s_lists[definition] switch
        {
            "HashSet" => Plain($"new {Generic}HashSet<{item.Name}>(count)"),
            "SortedSet" => Of(list, $"new {Generic}SortedSet<{item.Name}>(items{order})"),
            "ImmutableArray" => new("(value.IsDefault ? 0 : value.Length)", $"(value.IsDefault ? {Immutable}ImmutableArray<{item.Name}>.Empty : value)",
                list, $"{Immutable}ImmutableArray.CreateRange(items)"),
            "ImmutableList" => Of(list, $"{Immutable}ImmutableList.CreateRange(items)"),
            "ImmutableSortedSet" => Of(list, $"{Immutable}ImmutableSortedSet.CreateRange({(order.Length == 0 ? "" : Ordinal + ", ")}items)"),
            "ImmutableHashSet" => Ordered(item, "each", list, $"{Immutable}ImmutableHashSet.CreateRange(items)"),
            "FrozenSet" => Ordered(item, "each", list, $"{Frozen}FrozenSet.ToFrozenSet(items)"),
            _ => Plain(list),
        };
    }

    /// <summary>Returns the form of a map; null where the order of its keys is that of hash codes and they have no other.</summary>
    internal static CollectionForm? OfMap(string definition, TypeModel key, TypeModel content)
    {
        string arguments = $"<{key.Name}, {content.Name}>", map = $"new {Generic}Dictionary{arguments}()", order = OrderOf(key);
        return s_maps[definition] switch
        {
            "SortedDictionary" => Plain($"new {Generic}SortedDictionary{arguments}()"),
            "ImmutableSortedDictionary" => Of(map,
                $"{Immutable}ImmutableSortedDictionary.CreateRange({(order.Length == 0 ? "" : Ordinal + ", ")}items)"),
            "ImmutableDictionary" => Ordered(key, "each.Key", map, $"{Immutable}ImmutableDictionary.CreateRange(items)"),
            "FrozenDictionary" => Ordered(key, "each.Key", map, $"{Frozen}FrozenDictionary.ToFrozenDictionary(items)"),
            _ => Plain(map),
        };
    }

    private static CollectionForm Plain(string make) => Of(make, "items");

    private static CollectionForm Of(string make, string finish) => new("value.Count", "value", make, finish);

    /// <summary>
    /// The order of these collections is that of hash codes, which differ from process to process; what travels is under the hashes of
    /// channels, so it is put into the order of the values.
    /// </summary>
    private static CollectionForm? Ordered(TypeModel by, string key, string make, string finish) =>
        by.Shape is not (Shape.Simple or Shape.Enum) && by is not { Shape: Shape.Text, IsNullable: false } ? null
        : new("value.Count", $"global::System.Linq.Enumerable.OrderBy(value, static each => {key}{OrderOf(by)})", make, finish);

    /// <summary>Texts are ordered by their code units, whatever the culture of the process is.</summary>
    private static string OrderOf(TypeModel type) => type.Shape == Shape.Text ? $", {Ordinal}" : "";
}
