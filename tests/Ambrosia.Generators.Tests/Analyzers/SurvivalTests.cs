using System.Reflection;
using Ambrosia.TestKit;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// What the analyzers accept survives: immortals with fields of types that are made by chance are filled, and then tell the same as they go
/// on, in a process that was restored from a checkpoint, and in one that executes their inputs again.
/// </summary>
public sealed class SurvivalTests
{
    private const int FieldsOfEach = 12, DepthMax = 3, KeptRounds = 100;

    /// <summary>Types that are values by themselves, and an expression that makes one of <c>n</c>.</summary>
    private static readonly (string Type, string Make)[] s_values =
    [
        ("bool", "n % 2 == 0"), ("byte", "(byte)n"), ("sbyte", "(sbyte)-n"), ("short", "(short)-n"), ("ushort", "(ushort)n"), ("int",
            "n * -7"), ("uint", "(uint)n"),
        ("long", "n * 1L << 40"), ("ulong", "(ulong)n << 60"), ("char", "(char)('a' + n)"), ("float", "n / 3f"), ("double", "n / 7d"), (
            "decimal", "n / 9m"),
        ("string", "\"t\" + n"), ("Half", "(Half)n"), ("Int128", "(Int128)n << 100"), ("UInt128", "(UInt128)n << 90"), ("DateTime",
            "DateTime.UnixEpoch.AddDays(n)"),
        ("DateTimeOffset", "new DateTimeOffset(2020, 1, 2, 3, 4, 5, TimeSpan.FromHours(n % 9))"), ("TimeSpan",
            "TimeSpan.FromTicks(n * 77)"),
        ("DateOnly", "new DateOnly(2001, 2, 3).AddDays(n)"), ("TimeOnly", "new TimeOnly(n % 24, 5)"), ("Guid",
            "new Guid(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"),
        ("DayOfWeek", "(DayOfWeek)(n % 7)"), ("Point", "new Point(n, -n)"), ("Shown", "new Shown(n, \"s\" + n)"), ("Plain",
            "new Plain(n)"), ("IForm", "new Round { Rows = n }"),
        ("int?", "n % 2 == 0 ? null : n"), ("Point?", "n % 2 == 0 ? null : new Point(n, n)"), ("object", "n"), ("Uri", "new Uri(\"http://a/\" + n)"),
        ("Version", "new Version(n, 2)"), ("System.Text.StringBuilder", "new System.Text.StringBuilder(\"b\" + n)"),
        ("System.Numerics.BigInteger", "System.Numerics.BigInteger.Pow(n, 77)"), (
            "InvalidOperationException", "new InvalidOperationException(\"e\" + n)"),
    ];

    /// <summary>Types that are made of others: {0} and {1} are types, and [0] and [1] expressions.</summary>
    private static readonly (string Type, string Make)[] s_made =
    [
        ("{0}[]", "new {0}[] { [0], [0] }"), ("List<{0}>", "new List<{0}> { [0], [0] }"), ("Queue<{0}>",
            "new Queue<{0}>(new {0}[] { [0], [0] })"),
        ("Stack<{0}>", "new Stack<{0}>(new {0}[] { [0], [0] })"), ("LinkedList<{0}>", "new LinkedList<{0}>(new {0}[] { [0], [0] })"),
        ("Dictionary<int, {0}>", "new Dictionary<int, {0}> { [n] = [0], [n + 1] = [0] }"), ("SortedDictionary<long, {0}>",
            "new SortedDictionary<long, {0}> { [n] = [0] }"),
        ("SortedList<int, {0}>", "new SortedList<int, {0}> { [n] = [0] }"), ("Dictionary<string, {0}>",
            "new Dictionary<string, {0}> { [\"k\" + n] = [0] }"),
        ("({0}, {1})", "([0], [1])"), ("KeyValuePair<{0}, {1}>", "new KeyValuePair<{0}, {1}>([0], [1])"), ("Tuple<{0}, {1}>",
            "new Tuple<{0}, {1}>([0], [1])"),
        ("Cell<{0}>", "new Cell<{0}> { Value = [0] }"), ("Page<{0}>", "new Page<{0}>(new {0}[] { [0], [0] }, n)"),
        ("IReadOnlyList<{0}>", "new List<{0}> { [0] }"), ("IEnumerable<{0}>",
            "new {0}[] { [0] }"),
        ("System.Collections.Immutable.ImmutableArray<{0}>", "System.Collections.Immutable.ImmutableArray.Create<{0}>([0], [0])"),
        ("IReadOnlyDictionary<int, {0}>", "new Dictionary<int, {0}> { [n] = [0] }"), ("HashSet<int>", "new HashSet<int> { n, n + 1 }"), (
            "SortedSet<Guid>", "new SortedSet<Guid> { Guid.Empty }"),
        ("System.Collections.Immutable.ImmutableList<{0}>", "System.Collections.Immutable.ImmutableList.Create<{0}>([0], [0])"),
        ("System.Collections.Immutable.ImmutableQueue<{0}>", "System.Collections.Immutable.ImmutableQueue.Create<{0}>([0], [0])"),
        ("System.Collections.Immutable.ImmutableStack<{0}>", "System.Collections.Immutable.ImmutableStack.Create<{0}>([0], [0])"),
        ("System.Collections.Immutable.ImmutableDictionary<long, {0}>",
            "System.Collections.Immutable.ImmutableDictionary<long, {0}>.Empty.Add(n, [0]).Add(-n, [0])"),
        ("System.Collections.Immutable.ImmutableSortedDictionary<int, {0}>",
            "System.Collections.Immutable.ImmutableSortedDictionary<int, {0}>.Empty.Add(n, [0])"),
        ("System.Collections.Immutable.ImmutableHashSet<int>", "System.Collections.Immutable.ImmutableHashSet.Create(n, n + 1)"),
        ("System.Collections.Immutable.ImmutableSortedSet<int>", "System.Collections.Immutable.ImmutableSortedSet.Create(n, n - 1)"),
    ];

    internal const string Types = """
        public readonly record struct Point(int X, int Y);
        public sealed record Shown(int A, string B);
        public sealed class Plain(int a) { private readonly int _a = a; internal List<string> B { get; } = ["b" + a]; public int A => _a; }
        public interface IForm; public abstract class Form : IForm { public int Rows; } public sealed class Round : Form;
        public sealed class Cell<T> { public T? Value; } [Data] public sealed record Page<T>(IReadOnlyList<T> Items, int Total);
        public static class Tree
        {
            public static string Of(object? of) => of switch
            {
                null => "null",
                string or IFormattable or bool or char => Name(of) + " " + Convert.ToString(of, System.Globalization.CultureInfo.InvariantCulture),
                Uri or System.Text.StringBuilder => Name(of) + " " + of,
                Exception e => Name(of) + " " + e.Message,
                System.Collections.IEnumerable all => Name(of) + "[" + Joined(all.Cast<object?>()) + "]",
                _ => Name(of) + "(" + Joined(of.GetType().GetFields((System.Reflection.BindingFlags)52).OrderBy(field => field.Name, StringComparer.Ordinal).Select(field => field.GetValue(of))) + ")",
            };
            private static string Name(object of) => of.GetType().Name;
            private static string Joined(IEnumerable<object?> all) => string.Join(", ", all.Select(Of));
        }
        """;

    [Fact]
    public void Types_ThatAreAccepted_SurviveCheckpointKillAndReplay()
    {
        for (int round = 0; round < TestScale.Rounds(KeptRounds); round++)
        {
            Generation generation = Generation.OfAssembly($"Survival{round}", SourceOf(new Random(round)));
            Assert.Empty(Analysis.Of(generation, isInvariant: true));

            (string live, string restored, string replayed) = Speaking.AskAfter(DefinitionIn(generation.Load(), "Demo.Box"), [1, 1], 2);

            Assert.True(live.Length > FieldsOfEach, live);
            Assert.True(live == restored, $"seed {round}: restored is\n{restored}\nand not\n{live}");
            Assert.True(live == replayed, $"seed {round}: replayed is\n{replayed}\nand not\n{live}");
        }
    }

    internal static ImmortalDefinition DefinitionIn(Assembly assembly, string immortal) =>
        (ImmortalDefinition)typeof(ImmortalDefinition).GetMethod("Of")!.MakeGenericMethod(assembly.GetType(immortal)!).Invoke(null, null)!;

    private static string SourceOf(Random random)
    {
        (string Type, string Make)[] fields = [.. Enumerable.Range(0, FieldsOfEach).Select(_ => TypeOf(random, DepthMax))];
        IEnumerable<int> places = Enumerable.Range(0, fields.Length);
        return $$"""
            #pragma warning disable CS8618
            namespace Demo;
            public interface IBox { [MethodId(1)] void Fill(); [MethodId(2)] string Tell(); }
            public partial class Box : Immortal<IBoxProxy>, IBox
            {
                private int n = 3;
                {{string.Join("\n    ", places.Select(i => $"private {fields[i].Type} _f{i};"))}}
                public void Fill()
                {
                    n += 2;
                    {{string.Join("\n        ", places.Select(i => $"_f{i} = {fields[i].Make};"))}}
                }
                public string Tell() => string.Join("\n", new object?[] { {{string.Join(", ", places.Select(static i =>
                    $"_f{i}"))}} }.Select(Tree.Of));
            }
            {{Types}}
            """.Replace("namespace Demo;", "namespace Demo;\nusing System.Linq;", StringComparison.Ordinal);
    }

    private static (string Type, string Make) TypeOf(Random random, int depth)
    {
        if (depth == 0 || random.Next(3) == 0) return s_values[random.Next(s_values.Length)];
        (string type, string make) = s_made[random.Next(s_made.Length)];
        (string Type, string Make) one = TypeOf(random, depth - 1), two = TypeOf(random, depth - 1);
        string Put(string text) => text.Replace("{0}", one.Type, StringComparison.Ordinal).Replace("{1}", two.Type,
            StringComparison.Ordinal)
            .Replace("[0]", $"({one.Type})({one.Make})", StringComparison.Ordinal).Replace("[1]", $"({two.Type})({two.Make})",
                StringComparison.Ordinal);
        return (Put(type), Put(make));
    }
}
