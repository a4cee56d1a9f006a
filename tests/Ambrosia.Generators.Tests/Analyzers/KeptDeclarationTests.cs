namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Each declaration that StateRuleTests lists as one that a checkpoint can hold is filled, and tells the same as it goes on, restored from
/// an image, and replayed: all of them are fields of one immortal.
/// </summary>
public sealed class KeptDeclarationTests
{
    /// <summary>A type, an expression of <c>n</c> that makes a value, and one of <c>f</c> that tells it; null: by its fields.</summary>
    private static readonly (string Type, string Make, string? Tell)[] s_rows =
    [
        ("bool", "n > 1", null), ("byte", "(byte)n", null), ("sbyte", "(sbyte)-n", null), ("short", "(short)-n", null),
        ("ushort", "(ushort)n", null),
        ("int", "-n", null), ("uint", "(uint)n", null), ("long", "-1L * n << 40", null), ("ulong", "1UL << 63", null),
        ("nint", "(nint)n", null),
        ("nuint", "(nuint)n", null), ("char", "(char)('a' + n)", null), ("float", "n / 3f", null), ("double", "n / 7d", null),
        ("decimal", "n / 9m", null), ("string", "\"a\" + n", null), ("object", "n", null), ("Half", "(Half)n", null),
        ("Int128", "(Int128)n << 100", null), ("UInt128", "(UInt128)n << 99", null), ("DateTime", "DateTime.UnixEpoch.AddDays(n)", null),
        ("DateTimeOffset", "new DateTimeOffset(2020, 1, 2, 3, 4, n, TimeSpan.FromHours(2))", null),
        ("TimeSpan", "TimeSpan.FromTicks(n)", null),
        ("DateOnly", "new DateOnly(2001, 2, n)", null), ("TimeOnly", "new TimeOnly(n, 5)", null),
        ("Guid", "new Guid(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", null),
        ("DayOfWeek", "DayOfWeek.Friday", null), ("int?", "n", null), ("Guid?", "Guid.Empty", null), ("DateTime?", "null", null),
        ("decimal?", "n / 2m", null),
        ("int[]", "[n, 2]", null), ("string[]", "[\"a\", \"b\" + n]", null), ("int[,]", "new int[,] { { 1, n }, { 2, 3 } }", null),
        ("int[][]", "[[n], [], [1, 2]]", null), ("List<int>", "[n, 2]", null), ("List<string>", "[\"a\" + n]", null),
        ("List<List<int>>", "[[n], []]", null),
        ("Dictionary<string, int>", "new() { [\"b\"] = n, [\"a\"] = 1 }", null),
        ("Dictionary<Guid, List<string>>", "new() { [Guid.Empty] = [\"a\" + n] }", null),
        ("SortedDictionary<string, int>", "new(StringComparer.Ordinal) { [\"b\"] = n, [\"a\"] = 1 }", null),
        ("SortedList<int, int>", "new() { [n] = 1 }", null),
        ("HashSet<int>", "[n, 1]", null), ("SortedSet<string>", "new(StringComparer.Ordinal) { \"b\", \"a\" + n }", null),
        ("Queue<int>", "new([1, n])", null), ("Stack<int>", "new([1, n])", null), ("LinkedList<int>", "new([1, n])", null),
        ("ImmutableArray<int>", "[1, n]", null), ("ImmutableArray<string>", "[\"a\" + n]", null), ("(int, string)", "(n, \"a\")", null),
        ("(int A, (string B, long C))", "(n, (\"a\", 5))", null), ("Tuple<int, string>", "new(n, \"a\")", null),
        ("KeyValuePair<string, int>", "new(\"a\", n)", null), ("KeyValuePair<string, int>[]", "[new(\"a\", n)]", null),
        ("Exception", "new TimeoutException(\"a\" + n)", null), ("InvalidOperationException", "new(\"a\" + n)", null),
        ("AggregateException", "new(new TimeoutException(\"a\" + n))", null),
        ("IEnumerable<int>", "new[] { 1, n }", null),
        ("ICollection<int>", "new List<int> { n }", null),
        ("IList<int>", "new List<int> { n }", null), ("IReadOnlyList<int>", "new[] { n }", null),
        ("IReadOnlyCollection<string>", "new Queue<string>([\"a\" + n])", null),
        ("IDictionary<string, int>", "new Dictionary<string, int> { [\"a\"] = n }", null),
        ("IReadOnlyDictionary<string, int>", "new Dictionary<string, int> { [\"a\"] = n }", null),
        ("ISet<int>", "new HashSet<int> { n }", null),
        ("IReadOnlySet<int>", "new HashSet<int> { n }", null), ("IComparable", "n", null), ("IDisposable", "new Closed { A = n }", null),
        ("Call", "Delay(TimeSpan.FromHours(n))", "\"waits\""), ("Call<int>", "thisProxy.AskAsync()", "\"waits\""),
        ("Call<string>[]", "[thisProxy.TextAsync()]", "f.Length"),
        ("List<Call<int>>", "[thisProxy.AskAsync(), thisProxy.AskAsync()]", "f.Count"),
        ("CallCancellation", "new()", "f.IsCancelled"), ("RecurringTimer", "Every(TimeSpan.FromHours(n), Tick)", "\"a timer\""),
        ("IXProxy", "thisProxy", "f.InstanceName"), ("List<IXProxy>", "[thisProxy]", "f[0].InstanceName"),
        ("Dictionary<string, IXProxy>", "new() { [\"a\"] = GetProxy<IXProxy>(\"b\") }", "f[\"a\"].InstanceName"), ("Plain", "new(n)", null),
        ("Shown", "new(n, \"a\")", null), ("IForm", "new Round { Rows = n }", null), ("List<IForm>", "[new Round { Rows = n }]", null),
        ("Point", "new(n, 2)", null),
        ("Point?", "new Point(n, 2)", null), ("Point[]", "[new(n, 2)]", null), ("Cell<int>", "new() { Value = n }", null),
        ("Cell<string>", "new() { Value = \"a\" + n }", null), ("Cell<Point>", "new() { Value = new(n, 1) }", null),
        ("Form", "new Round { Rows = n }", null),
        ("Failed", "new(\"a\" + n)", null), ("Serialized", "new() { A = n }", "f.A"), ("List<Serialized>", "[new() { A = n }]", "f[0].A"),
        ("Dictionary<int, Plain[]>", "new() { [n] = [new(n)] }", null),
        ("Dictionary<Point, string>", "new() { [new(n, 1)] = \"a\" }", "f[new(n, 1)]"),
        ("Stack<(int, Guid)>", "new([(n, Guid.Empty)])", null), ("Queue<Plain?>", "new([new(n), null])", null),
        ("LinkedList<Shown>", "new([new(n, \"a\")])", null),
        ("DayOfWeek[]", "[DayOfWeek.Friday]", null), ("Array", "new[] { n, 1 }", null), ("Random", "Random", "f.Next()"),
        ("List<object>", "[n, \"a\", new Point(n, 1)]", null),
        ("System.Text.StringBuilder", "new(\"a\" + n)", null), ("System.Collections.BitArray", "new([true, false, n > 1])", null),
        ("Uri", "new(\"http://a/\" + n)", null), ("Version", "new(n, 2)", null),
        ("System.Numerics.BigInteger", "System.Numerics.BigInteger.Pow(n, 50)", null),
        ("PriorityQueue<string, int>", "new([(\"a\", n), (\"b\", 1)])", "f.Peek() + f.Count"),
        ("ImmutableList<Uri>", "[new Uri(\"http://a/\" + n)]", null),
        ("ImmutableDictionary<string, Plain>", "ImmutableDictionary<string, Plain>.Empty.Add(\"a\", new(n))", "f[\"a\"].A"),
        ("ImmutableHashSet<int>", "[n]", null),
        ("ImmutableSortedDictionary<string, int>", "ImmutableSortedDictionary.Create<string, int>(StringComparer.Ordinal).Add(\"a\", n)", "f[\"a\"]"),
        ("ImmutableSortedSet<int>", "[n, 1]", null), ("ImmutableQueue<int>", "[n, 1]", null), ("ImmutableStack<int>", "[n, 1]", null),
        ("IImmutableList<int>", "ImmutableList.Create(n, 1)", null), ("ProxyOf<IX>", "GetProxy<IX>(\"b\")", "f.InstanceName"),
    ];

    [Fact]
    public void Rows_AreThoseThatAreAccepted() => Assert.Equal(StateRuleTests.Kept, s_rows.Select(static each => each.Type));

    [Fact]
    public void Declarations_ThatAreAccepted_SurviveCheckpointKillAndReplay()
    {
        IEnumerable<int> places = Enumerable.Range(0, s_rows.Length);
        Generation generation = Generation.OfAssembly("KeptDeclarations", $$"""
            #pragma warning disable CS8618, CS0649
            namespace Demo;
            using System.Collections.Immutable; using System.Linq;
            public interface IX { [MethodId(1)] void Fill(); [MethodId(2)] string Tell(); [MethodId(3)] int Ask(); [MethodId(4)] string Text(); }
            public partial class X : Immortal<IXProxy>, IX
            {
                private int n = 3;
                {{string.Join("\n    ", places.Select(static i => $"private {s_rows[i].Type} _f{i};"))}}
                public void Fill()
                {
                    n += 2;
                    {{string.Join("\n        ", places.Select(static i => $"_f{i} = {s_rows[i].Make};"))}}
                }
                public int Ask() => n;
                public string Text() => "text";
                public string Tell()
                {
                    var all = new List<string>();
                    {{string.Join("\n        ", places.Select(static i => $"{{ var f = _f{i}; all.Add(\"{i} \" + Tree.Of({s_rows[i].Tell ?? "f"})); }}"))}}
                    return string.Join("\n", all);
                }
                private void Tick() { }
            }
            public sealed class Closed : IDisposable { public int A; public void Dispose() { } }
            public sealed class Failed(string message) : Exception(message);
            [StateSerializer(typeof(S))] public sealed class Serialized { public int A; }
            public sealed class S : IStateSerializer<Serialized>
            {
                public void Write(ref Ambrosia.Protocol.CborWriter to, Serialized value) => to.WriteInt64(value.A);
                public Serialized Read(ref Ambrosia.Protocol.CborReader from) => new() { A = (int)from.ReadInt64() };
            }
            {{SurvivalTests.Types}}
            """);
        Assert.Empty(Analysis.Of(generation, isInvariant: true));

        (string live, string restored, string replayed) =
            Speaking.AskAfter(SurvivalTests.DefinitionIn(generation.Load(), "Demo.X"), [1, 1], 2);

        Assert.Equal(s_rows.Length, live.Split('\n').Length);
        Assert.Equal(live, restored);
        Assert.Equal(live, replayed);
    }
}
