namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Values of each row of the table of types. <c>it</c> is what the field holds, <c>n</c> a number that the immortal counts.
/// </summary>
internal static class KeptExamples
{
    /// <param name="Row">The row of the table.</param>
    /// <param name="Type">The type of the field.</param>
    /// <param name="Make">Makes a value.</param>
    /// <param name="Use">Says, as a text, what it does from then on; null: it is equal to another that is made so.</param>
    internal sealed record Kept(string Row, string Type, string Make, string? Use = null);

    internal static IEnumerable<Kept> All => s_values.Concat(s_collections).Concat(s_immutables).Concat(s_places).Concat(s_kinds);

    private static readonly Kept[] s_values =
    [
        new("System.Boolean", "bool", "n > 0"), new("System.Byte", "byte", "byte.MaxValue"), new("System.SByte", "sbyte", "sbyte.MinValue"),
        new("System.Int16", "short", "short.MinValue"), new("System.UInt16", "ushort", "ushort.MaxValue"), new("System.Int32", "int", "-n"),
        new("System.UInt32", "uint", "uint.MaxValue"), new("System.Int64", "long", "long.MinValue"),
        new("System.UInt64", "ulong", "ulong.MaxValue"), new("System.Int128", "Int128", "Int128.MinValue"),
        new("System.UInt128", "UInt128", "UInt128.MaxValue"), new("System.IntPtr", "nint", "-n"), new("System.UIntPtr", "nuint", "(nuint)n"),
        new("System.Half", "Half[]", "[Half.NaN, Half.NegativeZero, (Half)n]", "Use.Of(it.Select(BitConverter.HalfToInt16Bits))"),
        new("System.Single", "float[]", "[float.NaN, -0f, n / 3f]", "Use.Of(it.Select(BitConverter.SingleToInt32Bits))"),
        new("System.Double", "double[]", "[double.NaN, -0.0, n / 3d]", "Use.Of(it.Select(BitConverter.DoubleToInt64Bits))"),
        new("System.Decimal", "decimal", "1.500m", "$\"{it} {it == 1.5m}\""), new("System.Char", "char", "'\\ud800'", "$\"{(int)it}\""),
        new("System.String", "string", "\"a\\ud800\" + n", "Use.Of(it.Select(each => (int)each))"),
        new("System.DateTime", "DateTime", "new DateTime(2020, 1, 2, 3, 4, 5, DateTimeKind.Utc)", "$\"{it:O} {it.Kind}\""),
        new("System.DateTimeOffset", "DateTimeOffset", "new DateTimeOffset(2020, 1, 2, 3, 4, 5, TimeSpan.FromHours(9))", "$\"{it:O}\""),
        new("System.TimeSpan", "TimeSpan", "TimeSpan.FromTicks(-n)"), new("System.DateOnly", "DateOnly", "new DateOnly(2001, 2, 3)"),
        new("System.TimeOnly", "TimeOnly", "new TimeOnly(23, 5)"), new("System.Guid", "Guid", "new Guid(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"),
        new("System.Numerics.BigInteger", "System.Numerics.BigInteger", "System.Numerics.BigInteger.Pow(-7, 99)"),
        new("System.Uri", "Uri", "new Uri(\"/a?b=c\", UriKind.Relative)", "$\"{it} {it.IsAbsoluteUri}\""),
        new("System.Uri", "Uri", "new Uri(\"http://a/b/%2e%2E/c\")", "$\"{it} {it.AbsoluteUri} {new Uri(it, \"x\")}\""),
        new("System.Version", "Version", "new Version(1, 2)", "$\"{it} {it.Build} {it < new Version(1, 3)}\""),
        new("System.Text.StringBuilder", "System.Text.StringBuilder", "new(4, 8)",
            "$\"{it.Append(\"abc\")} {it.MaxCapacity} {Use.Try(() => it.Append(\"defghi\"))} {it.Insert(1, \"-\").Length}\""),
        new("System.Collections.BitArray", "System.Collections.BitArray", "new([true, false, true, n > 0, false, false, false, true, true])",
            "Use.Of(it.Not().Cast<bool>()) + it.Length++ + it[9]"),
        new("System.Nullable`1", "int?", "null", "$\"{it.HasValue}\""), new("System.Nullable`1", "Point?", "new Point(n, 2)"),
        new("System.Tuple`", "Tuple<int, string>", "new(n, \"a\")"), new("System.Tuple`", "Tuple<int>", "new(n)"),
        new("System.ValueTuple`", "(int, (string A, int?))", "(n, (\"a\", null))"), new("System.ValueTuple`", "ValueTuple<int>", "new(n)"),
        new("System.ValueTuple`", "(int, int, int, int, int, int, int, int, int)", "(1, 2, 3, 4, 5, 6, 7, 8, n)"),
        new("System.Collections.Generic.KeyValuePair`2", "KeyValuePair<string, int>", "new(\"a\", n)"),
        new("System.Exception", "Exception", "new ArgumentException(\"m\", \"p\", new FormatException(\"f\"))",
            "$\"{it.Message} {it.GetType()} {((ArgumentException)it).ParamName} {it.InnerException!.Message}\""),
        new("System.Exception", "AggregateException", "new(new FormatException(\"f\"), new TimeoutException(\"t\"))",
            "$\"{it.InnerExceptions.Count} {it.Flatten().InnerExceptions[1].Message}\""),
    ];

    private static readonly Kept[] s_collections =
    [
        new("System.Collections.Generic.List`1", "List<string?>", "[\"b\", null, \"a\"]",
            "Use.List(it, \"c\") + it.IndexOf(\"a\") + it.Remove(\"b\") + Use.Of(it)"),
        new("System.Collections.Generic.List`1", "List<(int, string)>", "[(n, \"b\")]", "Use.List(it, (2, \"c\"))"),
        new("System.Collections.Generic.List`1+Enumerator", "List<int>.Enumerator", "Use.Begun(new List<int> { n, 5, 6 })", "Use.Rest(it)"),
        new("System.Collections.Generic.Queue`1", "Queue<int>", "new([1, 2, n])", "$\"{Use.Do(() => it.Enqueue(9))} {it.Dequeue()} {Use.Of(it)}\""),
        new("System.Collections.Generic.Stack`1", "Stack<int>", "new([1, 2, n])", "$\"{Use.Do(() => it.Push(9))} {it.Pop()} {it.Pop()} {Use.Of(it)}\""),
        new("System.Collections.Generic.LinkedList`1", "LinkedList<int>", "new([1, 2, n])",
            "$\"{it.AddBefore(it.Last!, 9).Previous!.Value} {it.Find(9)!.Next!.Value} {Use.Of(it)}\""),
        new("System.Collections.Generic.HashSet`1", "HashSet<string>", "Use.Holed(new HashSet<string>(StringComparer.OrdinalIgnoreCase))",
            "Use.Set(it, \"K1\", \"k9\") + it.Comparer.Equals(\"a\", \"A\")"),
        new("System.Collections.Generic.HashSet`1", "HashSet<Shown>", "[new(n, \"a\"), new(2, \"b\")]", "Use.Set(it, new(2, \"b\"), new(3, \"\"))"),
        new("System.Collections.Generic.Dictionary`2", "Dictionary<string, int>", "Use.Holed(new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase))",
            "Use.Map(it, \"K1\", \"k9\", 7) + it.Comparer.Equals(\"a\", \"A\")"),
        new("System.Collections.Generic.Dictionary`2", "Dictionary<Shown, List<int>>", "new() { [new(n, \"a\")] = [1] }", "Use.Map(it, new(n, \"a\"), new(5, \"\"), [])"),
        new("System.Collections.Generic.SortedSet`1", "SortedSet<string>", "new(StringComparer.Ordinal) { \"b\", \"B\", \"a\" }",
            "Use.Set(it, \"B\", \"C\") + it.Min + it.Max + Use.Of(it.GetViewBetween(\"B\", \"a\"))"),
        new("System.Collections.Generic.SortedDictionary`2", "SortedDictionary<string, int>", "new(StringComparer.OrdinalIgnoreCase) { [\"b\"] = 1, [\"A\"] = n }",
            "Use.Map(it, \"B\", \"C\", 7)"),
        new("System.Collections.Generic.SortedList`2", "SortedList<string, int>", "new(StringComparer.Ordinal) { [\"b\"] = 1, [\"B\"] = n }",
            "Use.Map(it, \"B\", \"C\", 7) + it.IndexOfKey(\"b\") + it.Values[0]"),
        new("System.Collections.Generic.PriorityQueue`2", "PriorityQueue<string, int>", "Use.Drawn(new PriorityQueue<string, int>())",
            "Use.Do(() => it.Enqueue(\"z\", 1)) + Use.Of(it.UnorderedItems) + Use.Drain(it)"),
    ];

    private static readonly Kept[] s_immutables =
    [
        new("System.Collections.Immutable.ImmutableArray`1", "ImmutableArray<int>", "[3, 1, n]", "Use.Of(it.Add(4)) + it.IndexOf(1) + it.IsDefault"),
        new("System.Collections.Immutable.ImmutableArray`1", "ImmutableArray<string>", "default", "$\"{it.IsDefault}\""),
        new("System.Collections.Immutable.ImmutableList`1", "ImmutableList<int>", "[3, 1, n]", "Use.Of(it.Insert(1, 4)) + it.IndexOf(1)"),
        new("System.Collections.Immutable.ImmutableQueue`1", "ImmutableQueue<int>", "[3, 1, n]", "Use.Of(it.Enqueue(4).Dequeue(out int first)) + first"),
        new("System.Collections.Immutable.ImmutableStack`1", "ImmutableStack<int>", "[3, 1, n]", "Use.Of(it.Push(4)) + it.Peek()"),
        new("System.Collections.Immutable.ImmutableSortedSet`1", "ImmutableSortedSet<string>", "ImmutableSortedSet.Create(StringComparer.Ordinal, \"b\", \"B\", \"a\")",
            "Use.Of(it.Add(\"C\").Add(\"b\")) + it.IndexOf(\"b\")"),
        new("System.Collections.Immutable.ImmutableSortedDictionary`2", "ImmutableSortedDictionary<string, string>",
            "ImmutableSortedDictionary.Create<string, string>(StringComparer.Ordinal, StringComparer.OrdinalIgnoreCase).Add(\"b\", \"x\").Add(\"B\", \"y\")",
            "Use.Of(it.SetItem(\"b\", \"X\").Add(\"C\", \"z\"))"),
        // Their own order is that of the process's hash codes, behind a restore, too.
        new("System.Collections.Immutable.ImmutableHashSet`1", "ImmutableHashSet<string>", "ImmutableHashSet.Create(StringComparer.OrdinalIgnoreCase, \"b\", \"a\")",
            "$\"{it.Contains(\"B\")} {it.Add(\"A\").Count} {Use.Of(it.Add(\"c\").Order(StringComparer.Ordinal))}\""),
        new("System.Collections.Immutable.ImmutableDictionary`2", "ImmutableDictionary<string, string>",
            "ImmutableDictionary.Create<string, string>(StringComparer.OrdinalIgnoreCase, StringComparer.OrdinalIgnoreCase).Add(\"b\", \"x\")",
            "$\"{it[\"B\"]} {it.SetItem(\"B\", \"X\")[\"b\"]} {it.ContainsValue(\"X\")} {it.Add(\"c\", \"\").Count}\""),
        new("System.Collections.Immutable.ImmutableDictionary`2", "ImmutableDictionary<Guid, Plain>",
            "ImmutableDictionary<Guid, Plain>.Empty.Add(Guid.Empty, new(n))", "$\"{it[Guid.Empty].A} {it.Remove(Guid.Empty).Count}\""),
    ];

    private static readonly Kept[] s_places =
    [
        new("System.Object", "object", "new List<object> { n, \"a\" }"), new("System.Enum", "Enum", "DayOfWeek.Friday"),
        new("System.ValueType", "ValueType", "(n, 2)"), new("System.Array", "Array", "new[,] { { n, 2 }, { 3, 4 } }"),
        new("System.IComparable", "IComparable", "n"), new("System.IComparable`1", "IComparable<int>", "n", "$\"{it.CompareTo(2)}\""),
        new("System.IEquatable`1", "IEquatable<Shown>", "new Shown(n, \"a\")"), new("System.IFormattable", "IFormattable", "5.0m"),
        new("System.IDisposable", "IDisposable", "new Closing()", "$\"{Use.Do(it.Dispose)} {((Closing)it).Times}\""),
        new("System.IConvertible", "IConvertible", "'c'"), new("System.ICloneable", "ICloneable", "\"a\""),
        new("System.Collections.IEnumerable", "System.Collections.IEnumerable", "new[] { n }"),
        new("System.Collections.ICollection", "System.Collections.ICollection", "new Queue<int>([n])"),
        new("System.Collections.IList", "System.Collections.IList", "new List<int>([n])", "$\"{it.Add(5)} {it.IsReadOnly}\""),
        new("System.Collections.IDictionary", "System.Collections.IDictionary", "new SortedList<int, int> { [n] = 1 }", "$\"{it.Contains(n)}\""),
        new("System.Collections.Generic.IEnumerable`1", "IEnumerable<int>", "new[] { n, 2 }"),
        new("System.Collections.Generic.ICollection`1", "ICollection<int>", "new LinkedList<int>([n])", "Use.Do(() => it.Add(2)) + Use.Of(it)"),
        new("System.Collections.Generic.IList`1", "IList<int>", "new List<int>([n])", "Use.List(it, 7)"),
        new("System.Collections.Generic.IReadOnlyCollection`1", "IReadOnlyCollection<int>", "new Stack<int>([n, 2])"),
        new("System.Collections.Generic.IReadOnlyList`1", "IReadOnlyList<int>", "new int[] { n, 2 }", "$\"{it[1]} {it.GetType()}\""),
        new("System.Collections.Generic.IDictionary`2", "IDictionary<int, int>", "new SortedDictionary<int, int> { [n] = 2 }", "Use.Map(it, 1, 2, 3)"),
        new("System.Collections.Generic.IReadOnlyDictionary`2", "IReadOnlyDictionary<int, int>", "new Dictionary<int, int> { [n] = 2 }", "$\"{it[n]}\""),
        new("System.Collections.Generic.ISet`1", "ISet<int>", "new HashSet<int> { n }", "Use.Set(it, 1, 2)"),
        new("System.Collections.Generic.IReadOnlySet`1", "IReadOnlySet<int>", "new SortedSet<int> { n, 2 }", "$\"{it.Contains(2)} {it.IsSubsetOf([2])}\""),
        new("System.Collections.Immutable.IImmutableList`1", "IImmutableList<int>", "ImmutableArray.Create(n, 2)", "Use.Of(it.Add(5)) + it.GetType()"),
        new("System.Collections.Immutable.IImmutableQueue`1", "IImmutableQueue<int>", "ImmutableQueue.Create(n, 2)", "Use.Of(it.Enqueue(5))"),
        new("System.Collections.Immutable.IImmutableStack`1", "IImmutableStack<int>", "ImmutableStack.Create(n, 2)", "Use.Of(it.Push(5))"),
        new("System.Collections.Immutable.IImmutableSet`1", "IImmutableSet<int>", "ImmutableSortedSet.Create(n, 2)", "Use.Of(it.Add(5))"),
        new("System.Collections.Immutable.IImmutableDictionary`2", "IImmutableDictionary<int, int>",
            "ImmutableSortedDictionary<int, int>.Empty.Add(n, 2)", "Use.Of(it.Add(99, 5))"),
        new("System.Random", "Random", "Random", "$\"{it.Next()} {it.Next()}\""),
        new("Ambrosia.Call", "Call", "Delay(TimeSpan.FromDays(1))", "$\"{it.IsCompleted}\""),
        new("Ambrosia.Call`1", "Call<int>", "NondetMethod(Doubled, 5)", "$\"{it.IsCompleted}\""),
        new("Ambrosia.CallCancellation", "CallCancellation", "new()", "$\"{it.IsCancelled} {Use.Do(it.Cancel)} {it.IsCancelled}\""),
        new("Ambrosia.RecurringTimer", "RecurringTimer", "Every(TimeSpan.FromDays(1), Fill)", "$\"{it.IsRunning} {Use.Do(it.Stop)} {it.IsRunning}\""),
        new("Ambrosia.NondetOptions", "NondetOptions", "new() { Attempts = n, Deadline = TimeSpan.FromDays(n) }"),
        new("Ambrosia.Immortal", "Immortal", "this", "$\"{ReferenceEquals(it, this)}\""),
        new("Ambrosia.Immortal`1", "Immortal<IBoxProxy>", "this", "$\"{ReferenceEquals(it, this)}\""),
        new("Ambrosia.ImmortalProxy", "ImmortalProxy", "GetProxy<IBox>(\"other\")", "Use.Of([it.ToString()])"),
        new("Ambrosia.ProxyOf`1", "ProxyOf<IBox>", "GetProxy<IBox>(\"other\")", "Use.Of([it.ToString()])"),
    ];

    private static readonly Kept[] s_kinds =
    [
        new("class, record, struct", "Plain", "new(n)", "$\"{it.A} {it.B[0]}\""), new("class, record, struct", "Shown", "new(n, \"a\")"),
        new("class, record, struct", "Longer", "new(n, \"a\", 5)", "$\"{it} {it with { C = 6 }} {it == new Longer(n, \"a\", 5)}\""),
        new("class, record, struct", "Point", "new(n, 2)"), new("class, record, struct", "Cell<Point>", "new() { Value = new(n, 2) }", "$\"{it.Value}\""),
        new("anonymous type, [InlineArray]", "object", "new { A = n, B = \"b\" }", "$\"{it} {it.Equals(new { A = n, B = \"b\" })}\""),
        new("anonymous type, [InlineArray]", "Two", "Two.Of(n, 5)", "$\"{it[0]} {it[1]}\""),
        new("enum", "DayOfWeek", "DayOfWeek.Friday"), new("enum", "Marks", "Marks.A | (Marks)64", "$\"{it}\""),
        new("array", "string?[]", "[\"a\", null]", "Use.Of(it)"), new("array", "int[,]", "new int[2, 0]", "$\"{it.GetLength(0)} {it.GetLength(1)} {it.GetType()}\""),
        new("array", "Dictionary<Tagged, int>", "new() { [new([], [], [])] = n }", "$\"{it[new([], [], [])]}\""),
        new("array", "object[]", "new string[] { \"a\" }", "$\"{it.GetType()} {Use.Try(() => it[0] = 5)}\""),
        new("collection expression behind an interface", "IReadOnlyList<int>", "[n, 2, 3]", "$\"{Use.Of(it)} {it.Count} {it[1]}\""),
        new("collection expression behind an interface", "IEnumerable<string>", "[\"a\"]", "Use.Of(it)"),
        new("collection expression behind an interface", "IReadOnlyCollection<int>", "[.. new[] { n, 2 }, 5]", "Use.Of(it) + it.Contains(5)"),
        new("collection expression behind an interface", "ICollection<int>", "[n]", "Use.Do(() => it.Add(2)) + Use.Of(it)"),
        new("iterator (yield)", "IEnumerable<int>", "Use.Count(n)", "Use.Of(it) + Use.Of(it)"),
        new("interface, abstract class, type parameter", "IForm", "new Round { Rows = n }", "$\"{((Round)it).Rows}\""),
        new("interface, abstract class, type parameter", "Form", "new Round { Rows = n }", "$\"{it.Rows} {it.GetType()}\""),
        new("interface, abstract class, type parameter", "Cell<IForm>", "new() { Value = new Round { Rows = n } }", "$\"{((Form)it.Value!).Rows}\""),
        new("type with [StateSerializer]", "Serialized", "new() { Host = \"h\" + n }", "it.Host"),
        new("[DataContract]", "Agreed", "new() { A = n }", "$\"{it.A} {it.B}\""),
    ];
}
