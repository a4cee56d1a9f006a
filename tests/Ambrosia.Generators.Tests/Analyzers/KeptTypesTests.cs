using System.Text;
using Ambrosia.State;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Walks the table of types: what the build accepts comes back from a checkpoint and does the same from then on, and what it refuses is
/// refused by the checkpoint, too, with the same advice. The page of the documents is made of the table.
/// </summary>
public sealed class KeptTypesTests
{
    private const string Head = """
        #pragma warning disable CS8618, CS0067, CS0649, CS0169
        namespace Demo;
        using System.Linq; using System.Threading; using System.Collections.Frozen; using System.Collections.Immutable; using System.Runtime.Serialization;
        public interface IBox { [MethodId(1)] void Fill(); [MethodId(2)] string Tell(); }
        public readonly record struct Point(int X, int Y);
        public record Shown(int A, string B); public sealed record Longer(int A, string B, int C) : Shown(A, B);
        public sealed class Plain(int a) { private readonly int _a = a; internal List<string> B { get; } = ["b" + a]; public int A => _a; }
        public interface IForm; public abstract class Form : IForm { public int Rows; } public sealed class Round : Form;
        public sealed class Cell<T> { public T? Value; }
        public sealed record Tagged(string[] A, ImmutableArray<int> B, ImmutableList<int> C);
        public sealed class Closing : IDisposable { internal int Times { get; private set; } public void Dispose() => Times++; }
        [Flags] public enum Marks : byte { A = 1, B = 2 }
        [System.Runtime.CompilerServices.InlineArray(2)] public struct Two { private int _first; public static Two Of(int a, int b) { Two two = default; two[0] = a; two[1] = b; return two; } }
        [DataContract] public sealed class Agreed { [DataMember] public int A { get; set; } [IgnoreDataMember] public int B; }
        [StateSerializer(typeof(ByHost))] public sealed class Serialized { public string Host = ""; }
        public sealed class ByHost : IStateSerializer<Serialized> { public void Write(ref Ambrosia.Protocol.CborWriter to, Serialized value) => to.WriteString(value.Host); public Serialized Read(ref Ambrosia.Protocol.CborReader from) => new() { Host = from.ReadString() }; }
        public sealed class Odd : IEqualityComparer<int>, IComparer<int> { public bool Equals(int x, int y) => x == y; public int GetHashCode(int of) => of; public int Compare(int x, int y) => x - y; }
        public sealed class Listed : List<int>;
        public static class Use
        {
            public static Action Nothing() => static () => { };
            public static Dictionary<int, int> Numbers => new() { [1] = 2 };
            public static string Of<T>(IEnumerable<T> all) => string.Join(", ", all);
            public static string Do(Action what) { what(); return ""; }
            public static string Try(Action what) { try { what(); return "done"; } catch (Exception e) { return e.GetType().Name; } }
            public static string Same<T>(T it, T other) => it is System.Collections.IEnumerable all and not string ? $"True True {it.GetType()} {Of(all.Cast<object>())}"
                : $"{it!.Equals(other)} {new HashSet<T> { it }.Contains(other)} {it.GetType()} {it}";
            public static string List<T>(IList<T> it, T next) { it.Add(next); it.Insert(0, next); it.RemoveAt(1); return Of(it) + it.Contains(next); }
            public static string Set<T>(ISet<T> it, T there, T next) => $"{it.Contains(there)} {it.Add(next)} {it.Add(next)} {Of(it)} {it.Remove(there)} {it.Add(there)} {Of(it)}";
            public static string Map<TKey, TValue>(IDictionary<TKey, TValue> it, TKey there, TKey next, TValue value) { it[next] = value; string text = Of(it) + it.ContainsKey(there) + it.Remove(there); it[there] = value; return text + Of(it.Keys); }
            public static HashSet<string> Holed(HashSet<string> all) { for (int i = 0; i < 9; i++) all.Add("k" + i); all.Remove("k3"); all.Remove("k5"); return all; }
            public static Dictionary<string, int> Holed(Dictionary<string, int> all) { for (int i = 0; i < 9; i++) all.Add("k" + i, i); all.Remove("k3"); all.Remove("k5"); return all; }
            public static PriorityQueue<string, int> Drawn(PriorityQueue<string, int> all) { for (int i = 0; i < 30; i++) { all.Enqueue("job" + i, i % 4); if (i % 3 == 0) all.Dequeue(); } return all; }
            public static string Drain(PriorityQueue<string, int> all) { string text = ""; while (all.Count > 0) text += all.Dequeue(); return text; }
            public static List<int>.Enumerator Begun(List<int> all) { List<int>.Enumerator at = all.GetEnumerator(); at.MoveNext(); return at; }
            public static string Rest(List<int>.Enumerator at) { string text = "at " + at.Current; while (at.MoveNext()) text += at.Current; return text; }
            public static IEnumerable<int> Count(int to) { for (int i = 0; i < to; i++) yield return i; }
        }
        """;

    [Fact]
    public void Table_EachRow_HasAnExample()
    {
        IEnumerable<string> Rows(Func<KeptGroup, bool> of) => KeptTypes.Groups.Where(of)
            .SelectMany(static group => group.Names.Length == 0 ? [group.Space] : group.Names.Select(name => $"{group.Space}.{name}"))
            .Concat(KeptTypes.Kinds.Where(of).SelectMany(static group => group.Names));
        Assert.Equal(Rows(static group => group.How is not (Kept.No or Kept.Local)).Order(StringComparer.Ordinal),
            KeptExamples.All.Select(static each => each.Row).Distinct().Order(StringComparer.Ordinal));
        // The three that are missing here have no value that could stand in a field of another type: StateRuleTests has them.
        Assert.Equal(Rows(static group => group.How is Kept.No or Kept.Local).Except(["[NotState]", "pointer", "event"]).Append("")
            .Order(StringComparer.Ordinal), RefusedExamples.All.Select(static each => each.Row).Distinct().Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Types_ThatTheBuildAccepts_ComeBackAndGoOnAlike()
    {
        KeptExamples.Kept[] rows = [.. KeptExamples.All];
        IEnumerable<string> Lines(Func<KeptExamples.Kept, int, string> line) => rows.Select(line);
        Generation generation = Generation.OfAssembly("KeptTypes", Head + $$"""

            public partial class Box : Immortal<IBoxProxy>, IBox
            {
                private int n = 3;
                {{string.Join("\n    ", Lines(static (row, i) => $"private {row.Type} _f{i};"))}}
                public void Fill() { {{string.Join("\n        ", Lines(static (row, i) => $"_f{i} = {row.Make};"))}} }
                public string Tell() => string.Join("\n", [{{string.Join(", ", Lines(static (_, i) => $"Tell{i}()"))}}]);
                private static int Doubled(int number) => 2 * number;
                {{string.Join("\n    ", Lines(static (row, i) => $"private string Tell{i}() {{ {row.Type} it = _f{i}; return {row.Use ?? $"Use.Same(it, {row.Make})"}; }}"))}}
            }
            """);
        Assert.Empty(Analysis.Of(generation, isInvariant: true).Select(static each => each.ToString()));

        ImmortalDefinition definition = SurvivalTests.DefinitionIn(generation.Load(), "Demo.Box");
        (string live, string restored, string replayed) = Speaking.AskAfter(definition, [1], 2);

        string[][] told = [live.Split('\n'), restored.Split('\n'), replayed.Split('\n')];
        Assert.All(told, each => Assert.Equal(rows.Length, each.Length));
        Assert.All(rows.Select(static (row, i) => (row, i)), each =>
            Assert.Equal(($"{each.row}", told[0][each.i], told[0][each.i]), ($"{each.row}", told[1][each.i], told[2][each.i])));
        Assert.All(rows.Zip(told[1]).Where(static each => each.First.Use is null), static each =>
            Assert.StartsWith("True True ", each.Second, StringComparison.Ordinal));
    }

    [Fact]
    public void Values_ThatNoCheckpointHolds_AreReportedWhereTheyArePutIntoTheState()
    {
        string[] lines = [.. RefusedExamples.All.Select(static (row, i) => $"private {row.Place} _f{i}; private void Put{i}() => _f{i} = {row.Make};")];
        Diagnostic[] found = Analysis.Of(Generation.Of($$"""
            {{Head}}
            public partial class Box : Immortal<IBoxProxy>, IBox
            {
                {{string.Join("\n    ", lines)}}
                public void Fill() { }
                public string Tell() => "";
            }
            """), isInvariant: true);
        string[] reported = [.. found.Where(static each => each.Id == "AMB131").Select(static each => each.GetMessage())];
        Assert.Equal(RefusedExamples.All.Length, reported.Length);
        Assert.All(RefusedExamples.All.Zip(reported).Select(static (pair, i) => (pair.First, pair.Second, i)), static each =>
            Assert.StartsWith($"No checkpoint can hold Box._f{each.i}, a ", each.Second, StringComparison.Ordinal));
    }

    /// <summary>Where the build cannot see a value, the checkpoint refuses it, with the advice of its row.</summary>
    [Fact]
    public void Values_ThatTheBuildDoesNotSee_AreRefusedByTheCheckpoint()
    {
        Generation generation = Generation.OfAssembly("Refused", Head + $$"""

            public partial class Box : Immortal<IBoxProxy>, IBox
            {
                private int n = -1;
                private object? _it;
                public void Fill() => _it = Made(++n);
                public string Tell() => "";
                private object? Made(int which) => which switch { {{string.Join(", ", RefusedExamples.All.Select(static (row, i) => $"{i} => (object?)({row.Make})"))}}, _ => null };
            }
            """);
        ImmortalDefinition definition = SurvivalTests.DefinitionIn(generation.Load(), "Demo.Box");
        Assert.All(RefusedExamples.All.Select(static (row, i) => (row, i)), each =>
        {
            string refused = Assert.ThrowsAny<Exception>(
                () => Speaking.AskAfter(definition, [.. Enumerable.Repeat(1u, each.i + 1)], 2)).Message;
            KeptGroup? group = KeptTypes.Groups.FirstOrDefault(group => group.How == Kept.No && (group.Names.Length == 0 ? [group.Space]
                : group.Names.Select(name => $"{group.Space}.{name}")).Contains(each.row.Row));
            string advice = group is null ? "cannot be written" : $"cannot be written; {group.Says}";
            Assert.True(refused.Contains(advice, StringComparison.Ordinal), $"{each.row}: {refused}");
        });
    }

    [Fact]
    public void Page_OfTheTypes_IsTheTable()
    {
        string page = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "docs", "state-types.md")).ReplaceLineEndings("\n");
        string kept = Table("| types | what comes back |",
            KeptTypes.Groups.Where(static group => group.How is not (Kept.No or Kept.Local)));
        string refused = Table("| types | what to do instead |",
            KeptTypes.Groups.Where(static group => group.How is Kept.No or Kept.Local));
        string kinds = Table("| what | what comes back |", KeptTypes.Kinds.Where(static group => group.How != Kept.No));
        string refusedKinds = Table("| what | what to do instead |", KeptTypes.Kinds.Where(static group => group.How == Kept.No));
        Assert.All([kept, refused, kinds, refusedKinds], table => Assert.Contains(table, page, StringComparison.Ordinal));
    }

    private static string Table(string head, IEnumerable<KeptGroup> groups) =>
        $"{head}\n|---|---|\n{string.Join('\n', groups.Select(static group => $"| {Types(group)} | {group.Says} |"))}\n";

    private static string Types(KeptGroup group) => group.Space.Length == 0 ? group.Names[0]
        : group.Names.Length == 0 ? $"all of `{group.Space}` that stands in no other row"
        : $"`{group.Space}`: {string.Join(", ", group.Names.Select(static name => $"`{Shown(name)}`"))}";

    /// <summary>Shows a name of metadata as C# does: <c>List`1+Enumerator</c> is <c>List&lt;&gt;.Enumerator</c>.</summary>
    private static string Shown(string name) =>
        name.Replace("`1", "<>", StringComparison.Ordinal).Replace("`2", "<,>", StringComparison.Ordinal)
            .Replace("`", "<…>", StringComparison.Ordinal).Replace('+', '.');
}
