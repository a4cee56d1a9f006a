namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>Values of each row of the table of types that says that no checkpoint holds it.</summary>
internal static class RefusedExamples
{
    /// <param name="Row">The row of the table.</param>
    /// <param name="Make">Makes a value.</param>
    /// <param name="Place">The type of the field, which does not tell what stands in it.</param>
    internal sealed record Refused(string Row, string Make, string Place = "object");

    internal static readonly Refused[] All =
    [
        new("System.Delegate", "Use.Nothing()"), new("System.MulticastDelegate", "(Func<int>)(() => 5)"),
        new("System.Lazy`1", "new Lazy<int>(5)"), new("System.ReadOnlyMemory`1", "new ReadOnlyMemory<byte>([1])"),
        new("System.Memory`1", "new Memory<byte>([1])"), new("System.ArraySegment`1", "new ArraySegment<int>([1])"),
        new("System.Type", "typeof(int)"), new("System.ValueTuple", "ValueTuple.Create()"),
        new("System.StringComparer", "StringComparer.Ordinal"),
        new("System.Text.Json.JsonDocument", "System.Text.Json.JsonDocument.Parse(\"{}\")"),
        new("System.Text.Json.JsonElement", "System.Text.Json.JsonDocument.Parse(\"{}\").RootElement"),
        new("System.Text.Json.Nodes.JsonNode", "System.Text.Json.Nodes.JsonNode.Parse(\"[]\")"),
        new("System.Text.Json.Nodes.JsonNode", "new System.Text.Json.Nodes.JsonObject()"),
        new("System.Threading.CancellationToken", "new CancellationToken()"),
        new("System.Threading.CancellationTokenSource", "new CancellationTokenSource()"),
        new("System.Threading.Tasks.Task", "Task.CompletedTask"), new("System.Threading.Tasks.Task`1", "Task.FromResult(5)"),
        new("System.Threading.Tasks.ValueTask", "new ValueTask()"), new("System.Threading.Tasks.ValueTask`1", "new ValueTask<int>(5)"),
        new("System.Threading.Tasks.TaskCompletionSource", "new TaskCompletionSource()"),
        new("System.Threading.Tasks.TaskCompletionSource`1", "new TaskCompletionSource<int>()"),
        new("System.Threading.Timer", "new Timer(static _ => { })"), new("System.Threading.AsyncLocal`1", "new AsyncLocal<int>()"),
        new("System.Threading.ThreadLocal`1", "new ThreadLocal<int>()"),
        new("System.Collections.Generic.Dictionary`2+KeyCollection", "new Dictionary<int, int>().Keys", "IEnumerable<int>"),
        new("System.Collections.Generic.Dictionary`2+ValueCollection", "Use.Numbers.Values", "ICollection<int>"),
        new("System.Collections.Generic.SortedDictionary`2+KeyCollection", "new SortedDictionary<int, int>().Keys", "IReadOnlyCollection<int>"),
        new("System.Collections.Generic.SortedDictionary`2+ValueCollection", "new SortedDictionary<int, int>().Values", "System.Collections.ICollection"),
        new("System.Linq", "new[] { 1 }.ToLookup(static each => each)", "IEnumerable<IEnumerable<int>>"),
        new("System.Linq", "new[] { 1 }.GroupBy(static each => each).First()", "IEnumerable<int>"),
        new("System.Linq", "new[] { 1 }.Where(static each => each > 0)", "IEnumerable<int>"),
        new("System.Linq", "Enumerable.Range(1, 5)", "IEnumerable<int>"),
        new("System.Linq", "new[] { 1 }.Cast<object>()", "IEnumerable<object>"),
        new("System.Linq", "new[] { 2 }.Order()", "IEnumerable<int>"),
        new("System.Linq", "new[] { 1 }.Select(static each => each).AsEnumerable()", "IEnumerable<int>"),
        new("System.Collections.ObjectModel", "new List<int>().AsReadOnly()", "IReadOnlyList<int>"),
        new("System.Collections.ObjectModel", "new System.Collections.ObjectModel.ObservableCollection<int>()", "IList<int>"),
        new("System.Collections.Concurrent", "new System.Collections.Concurrent.ConcurrentDictionary<int, int>()", "IDictionary<int, int>"),
        new("System.Collections.Concurrent", "new System.Collections.Concurrent.ConcurrentQueue<int>()", "IEnumerable<int>"),
        new("System.Collections.Concurrent", "new System.Collections.Concurrent.ConcurrentBag<int>()"),
        new("System.Collections.Concurrent", "new System.Collections.Concurrent.ConcurrentStack<int>()"),
        new("System.Collections.Concurrent", "new System.Collections.Concurrent.BlockingCollection<int>()"),
        new("System.Collections.Frozen", "new Dictionary<int, int> { [1] = 2 }.ToFrozenDictionary()", "IReadOnlyDictionary<int, int>"),
        new("System.Collections.Frozen", "new[] { \"a\" }.ToFrozenSet()", "IReadOnlySet<string>"),
        new("System.Collections.Immutable", "ImmutableList.CreateBuilder<int>()", "IList<int>"),
        new("System.Collections.Immutable", "ImmutableArray.CreateBuilder<int>()"),
        new("System.Collections.Immutable", "ImmutableDictionary<int, int>.Empty.ToBuilder()", "IDictionary<int, int>"),
        new("System.IO", "new System.IO.MemoryStream()", "IDisposable"), new("System.Net", "System.Net.IPAddress.Loopback"),
        new("", "new Index(5)", "ValueType"), new("", "1..2", "ValueType"), new("", "new System.Text.Rune('a')", "IComparable"),
        new("", "new System.Collections.ArrayList()", "System.Collections.IList"),
        new("", "new OrderedDictionary<int, int>()", "IDictionary<int, int>"),
        new("", "new WeakReference(new object())"), new("", "new Type[] { typeof(int) }"), new("", "new List<Type> { typeof(int) }"),
        new("", "(1, typeof(int))"),
        new("", "Logger"), new("", "new NondetContext(\"k\", 1, default)"), new("", "System.Globalization.CultureInfo.InvariantCulture"),
        new("comparer of another kind", "new HashSet<string>(StringComparer.InvariantCulture) { \"a\" }", "HashSet<string>"),
        new("comparer of another kind", "new HashSet<object>(ReferenceEqualityComparer.Instance)", "HashSet<object>"),
        new("comparer of another kind", "new Dictionary<int, int>(new Odd())", "Dictionary<int, int>"),
        new("comparer of another kind", "new SortedSet<int>(Comparer<int>.Create(static (x, y) => y - x))", "SortedSet<int>"),
        new("comparer of another kind", "new PriorityQueue<int, int>(new Odd())", "PriorityQueue<int, int>"),
        new("comparer of another kind", "ImmutableHashSet.Create(EqualityComparer<int>.Create(static (x, y) => x == y), 5)", "ImmutableHashSet<int>"),
        new("array from another index than 0", "Array.CreateInstance(typeof(int), [2], [5])", "Array"),
        new("class derived from one of the framework", "new Listed()", "IList<int>"),
    ];
}
