using System;
using System.Collections.Generic;
using System.Linq;

namespace Ambrosia.State;

/// <summary>How a checkpoint holds values of a type.</summary>
internal enum Kept
{
    /// <summary>Not at all.</summary>
    No,

    /// <summary>In place, as a number, text or date.</summary>
    Value,

    /// <summary>As one item, which a serializer of the binding writes.</summary>
    Item,

    /// <summary>As its fields.</summary>
    Fields,

    /// <summary>As its elements, in their order, with the comparer.</summary>
    Collection,

    /// <summary>Like <see cref="Collection"/>, if the keys have an order that does not depend on the process.</summary>
    Ordered,

    /// <summary>As what stands in it, which is judged by its own type.</summary>
    Place,

    /// <summary>In a local of a method that waits, and nowhere else: it belongs to one build.</summary>
    Local,
}

/// <summary>Types of one namespace that a checkpoint holds in one way.</summary>
/// <param name="how">How it holds them.</param>
/// <param name="space">Their namespace.</param>
/// <param name="names">
/// Their names as metadata has them, <c>List`1</c>, <c>List`1+Enumerator</c>; <c>Tuple`</c> stands for any number of arguments. A namespace
/// that is refused as a whole has none.
/// </param>
/// <param name="says">What comes back, or what to do instead.</param>
internal sealed class KeptGroup(Kept how, string space, string[] names, string says)
{
    internal Kept How => how;

    internal string Space => space;

    internal string[] Names => names;

    internal string Says => says;
}

/// <summary>
/// The one table of the types of the framework, and of this library, that the state may be made of. The binding writes by it, the analyzers
/// judge by it (they compile this source, too), docs/state-types.md shows it, and a test walks it. What is not in it is refused, except
/// enums and exceptions.
/// </summary>
internal static class KeptTypes
{
    private const string System = "System", Generic = "System.Collections.Generic", Immutable = "System.Collections.Immutable",
        Threading = "System.Threading", Tasks = "System.Threading.Tasks", Json = "System.Text.Json";

    private const string Copy = "keep what it gives: ToList(), ToArray() or ToDictionary()";

    internal static readonly KeptGroup[] Groups =
    [
        new(Kept.Value, System, ["Boolean", "Byte", "SByte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Int128", "UInt128",
            "IntPtr", "UIntPtr"], "the number"),
        new(Kept.Value, System, ["Half", "Single", "Double", "Decimal"], "the bits: NaN, -0 and the zeros behind a decimal point, too"),
        new(Kept.Value, System, ["Char", "String"], "the characters, also half surrogates"),
        new(Kept.Value, System, ["DateTime", "DateTimeOffset", "TimeSpan", "DateOnly", "TimeOnly"],
            "ticks, with kind or offset, whatever the zone of the machine"),
        new(Kept.Value, System, ["Guid"], "the UUID"),
        new(Kept.Item, "System.Numerics", ["BigInteger"], "the number"),
        new(Kept.Item, System, ["Uri", "Version"], "the text, absolute or relative as it was; two to four numbers"),
        new(Kept.Item, "System.Text", ["StringBuilder"], "the text, and the most that it may hold"),
        new(Kept.Item, "System.Collections", ["BitArray"], "the bits"),
        new(Kept.Fields, System, ["Nullable`1", "Tuple`", "ValueTuple`"], "null or the value; each item"),
        new(Kept.Fields, Generic, ["KeyValuePair`2"], "key and value"),
        new(Kept.Fields, System, ["Exception"],
            "and classes derived from it: type, message, help link, inner exception and own fields, without the stack, `Source` and `Data`"),
        new(Kept.Collection, Generic, ["List`1", "Queue`1", "Stack`1", "LinkedList`1"], "the elements in their order"),
        new(Kept.Collection, Generic, ["List`1+Enumerator"], "the list, the place in it, and whether the list is unchanged"),
        new(Kept.Collection, Generic, ["HashSet`1", "Dictionary`2"], "order, comparer, and where the next ones will stand"),
        new(Kept.Collection, Generic, ["SortedSet`1", "SortedDictionary`2", "SortedList`2"], "order and comparer"),
        new(Kept.Collection, Generic, ["PriorityQueue`2"], "comparer and heap, so that of equal priorities the same one is first"),
        new(Kept.Collection, Immutable, ["ImmutableArray`1", "ImmutableList`1", "ImmutableQueue`1", "ImmutableStack`1"],
            "the elements in their order"),
        new(Kept.Collection, Immutable, ["ImmutableSortedSet`1", "ImmutableSortedDictionary`2"], "order, and the comparers of keys and values"),
        new(Kept.Ordered, Immutable, ["ImmutableHashSet`1", "ImmutableDictionary`2"],
            "elements and comparers, if the keys are numbers, texts, enums, dates or Guids: their order is that of hash codes, which differ from process to process"),
        new(Kept.Place, System, ["Object", "Enum", "ValueType", "Array", "IComparable", "IComparable`1", "IEquatable`1", "IFormattable",
            "IDisposable", "IConvertible", "ICloneable"], "what stands in it"),
        new(Kept.Place, "System.Collections", ["IEnumerable", "ICollection", "IList", "IDictionary"], "what stands in it"),
        new(Kept.Place, Generic, ["IEnumerable`1", "ICollection`1", "IList`1", "IReadOnlyCollection`1", "IReadOnlyList`1", "IDictionary`2",
            "IReadOnlyDictionary`2", "ISet`1", "IReadOnlySet`1"], "what stands in it"),
        new(Kept.Place, Immutable, ["IImmutableList`1", "IImmutableQueue`1", "IImmutableStack`1", "IImmutableSet`1",
            "IImmutableDictionary`2"], "what stands in it"),
        new(Kept.Place, System, ["Random"], "the immortal's own `Random`; another one is refused, since its state is not known"),
        new(Kept.Fields, "Ambrosia", ["Call", "Call`1", "CallCancellation", "RecurringTimer", "NondetOptions"],
            "as it was; options without `Retry`, which is a function"),
        new(Kept.Place, "Ambrosia", ["Immortal", "Immortal`1", "ImmortalProxy", "ProxyOf`1"], "the immortal itself; whom a proxy speaks to"),
        new(Kept.Local, System, ["Delegate", "MulticastDelegate"],
            "a function belongs to one build; keep data that says what is to be done, or an object of your own with a method"),

        new(Kept.No, System, ["Lazy`1"], "compute the value where it is needed, or keep the value itself"),
        new(Kept.No, System, ["ReadOnlyMemory`1", "Memory`1", "ArraySegment`1"], "keep an array"),
        new(Kept.No, System, ["Type"], "keep a name, an enum or a number"),
        new(Kept.No, System, ["ValueTuple"], "leave it out, since it holds nothing"),
        new(Kept.No, System, ["StringComparer"], "give it to the collection, which keeps it"),
        new(Kept.No, Json, ["JsonDocument", "JsonElement", "Nodes.JsonNode"], "keep its text, or a type of your own"),
        new(Kept.No, Threading, ["CancellationToken", "CancellationTokenSource"], "use a CallCancellation"),
        new(Kept.No, Tasks, ["Task", "Task`1", "ValueTask", "ValueTask`1", "TaskCompletionSource", "TaskCompletionSource`1"], "use a Call"),
        new(Kept.No, Threading, ["Timer"], "use Every or Delay"),
        new(Kept.No, Threading, ["AsyncLocal`1", "ThreadLocal`1"], "pass the value on"),
        new(Kept.No, Generic, ["Dictionary`2+KeyCollection", "Dictionary`2+ValueCollection", "SortedDictionary`2+KeyCollection",
            "SortedDictionary`2+ValueCollection"], Copy),
        new(Kept.No, "System.Linq", [], "a query is functions that wait until it is enumerated; " + Copy),
        new(Kept.No, "System.Collections.ObjectModel", [], "keep the list or map itself, and give out AsReadOnly() where it is asked for"),
        new(Kept.No, "System.Collections.Concurrent", [], "use a Dictionary or a Queue; handlers run one at a time"),
        new(Kept.No, "System.Collections.Frozen", [], "use a Dictionary or a HashSet"),
        new(Kept.No, Immutable, [], "keep the collection that it builds"),
        new(Kept.No, "System.IO", [], "open it in a NondetTask, and keep what was read"),
        new(Kept.No, "System.Net", [], "use it in a NondetTask"),
    ];

    /// <summary>What else the state may be made of, or not: by rules of the same parties, as no name tells it.</summary>
    internal static readonly KeptGroup[] Kinds =
    [
        new(Kept.Fields, "", ["class, record, struct"],
            "each field, those of base classes, too, whatever its access; no constructor and no setter runs"),
        new(Kept.Fields, "", ["anonymous type, [InlineArray]"], "each item"),
        new(Kept.Value, "", ["enum"], "the member of this name"),
        new(Kept.Collection, "", ["array"], "the elements, of one or several dimensions from index 0"),
        new(Kept.Collection, "", ["collection expression behind an interface"], "the elements in their order"),
        new(Kept.Fields, "", ["iterator (yield)"], "where it stands, while its method has the same body"),
        new(Kept.Place, "", ["interface, abstract class, type parameter"], "what stands in it"),
        new(Kept.Item, "", ["type with [StateSerializer]"], "what its serializer wrote"),
        new(Kept.Fields, "", ["[DataContract]"], "the fields that are [DataMember]; each other one is reported, unless it says [IgnoreDataMember]"),
        new(Kept.No, "", ["[NotState]"], "the default behind a restore; make it where it is needed"),
        new(Kept.No, "", ["comparer of another kind"],
            "a collection keeps the default comparers, StringComparer.Ordinal and OrdinalIgnoreCase"),
        new(Kept.No, "", ["class derived from one of the framework"], "hold one in a field instead"),
        new(Kept.No, "", ["array from another index than 0"], "keep the first index beside it"),
        new(Kept.No, "", ["pointer"], "it is an address of this process; keep what it points at"),
        new(Kept.No, "", ["event"], "who listens is a function; call the methods of objects that you keep in a list"),
    ];

    /// <summary>
    /// The comparers that a collection keeps beside the default ones: properties of StringComparer, in the order of their codes in an
    /// image, from 1.
    /// </summary>
    internal static readonly string[] Comparers = ["Ordinal", "OrdinalIgnoreCase"];

    private const string Otherwise = "keep what it was made of, or mark it [NotState] and make it again in BecomingPrimary or where it is needed";

    private static readonly Dictionary<string, KeptGroup> s_byName = Groups
        .SelectMany(static group => group.Names.Length == 0 ? [(Name: group.Space, Group: group)]
            : group.Names.Select(name => (Name: $"{group.Space}.{name}", Group: group)))
        .ToDictionary(static row => row.Name, static row => row.Group, StringComparer.Ordinal);

    /// <summary>Says how a checkpoint holds a type of the framework or of this library, by its name in metadata.</summary>
    internal static Kept HowOf(string name) =>
        s_byName.TryGetValue(name, out KeptGroup? group) || s_byName.TryGetValue(name.Substring(0, name.IndexOf('`') + 1), out group)
            ? group.How : Kept.No;

    /// <summary>Says what to do instead of keeping a type that is refused; null where no row says it of it or its namespace.</summary>
    internal static string? InsteadOf(string name)
    {
        for (; name.Length > 0; name = name.Substring(0, Math.Max(0, name.LastIndexOfAny(['.', '+']))))
            if (s_byName.TryGetValue(name, out KeptGroup? group) && group.How == Kept.No) return group.Says;
        return null;
    }

    /// <summary>Says what to do instead of keeping a type that is refused.</summary>
    /// <param name="names">Its name, and those of its base classes.</param>
    internal static string InsteadOf(IEnumerable<string> names) =>
        names.Select(InsteadOf).FirstOrDefault(static each => each is not null) ?? Otherwise;
}
