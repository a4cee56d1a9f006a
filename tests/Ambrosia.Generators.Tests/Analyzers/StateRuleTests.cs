using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>What a checkpoint or the wire would lose is reported at its declaration. The <c>«»</c> mark the place.</summary>
public sealed class StateRuleTests
{
    private const string Head = """
        #pragma warning disable CS0649, CS0169, CS0414, CS8618, CS0067
        namespace Demo;
        using System.Linq; using System.Threading; using System.Collections.Immutable; using System.Collections.Concurrent; using System.Collections.Frozen;
        public interface IX { void Go(); }
        """;

    /// <summary>Types of fields that no checkpoint can hold.</summary>
    private static readonly string[] s_unkept =
    [
        "Lazy<int>", "AsyncLocal<int>", "ThreadLocal<int>", "System.IO.Stream", "System.IO.MemoryStream", "System.IO.FileStream", "Task",
            "Task<int>",
        "ValueTask", "TaskCompletionSource", "CancellationTokenSource", "CancellationToken", "Thread", "Timer", "SemaphoreSlim",
        "System.Text.CompositeFormat", "System.Text.Json.Nodes.JsonNode", "System.Text.Json.Nodes.JsonObject",
            "System.Text.Json.JsonDocument",
        "System.Text.Json.JsonElement", "Type", "UriBuilder", "System.Runtime.Versioning.FrameworkName", "System.Numerics.Plane", "System.Reflection.MethodInfo",
        "System.Net.Http.HttpClient", "System.Net.IPAddress", "System.Diagnostics.Stopwatch", "System.Diagnostics.Process",
        "System.Text.RegularExpressions.Regex", "System.Globalization.CultureInfo", "TimeZoneInfo", "StringComparer", "IComparer<string>",
        "IEqualityComparer<int>", "IEnumerator<int>", "System.Linq.IQueryable<int>", "IServiceProvider", "WeakReference",
            "WeakReference<string>",
        "ConcurrentDictionary<int, int>", "ConcurrentQueue<int>", "ConcurrentBag<int>", "BlockingCollection<int>", "ImmutableList<int>.Builder",
        "ImmutableDictionary<int, int>.Builder", "ImmutableHashSet<int>.Builder", "FrozenDictionary<int, int>", "FrozenSet<int>", "ConcurrentStack<int>",
        "System.Collections.Queue", "System.Collections.Hashtable", "System.Collections.ArrayList", "ReadOnlyMemory<byte>",
            "Memory<byte>",
        "ArraySegment<byte>", "Index", "Range", "IntPtr[,][]".Replace("IntPtr[,][]", "System.Runtime.InteropServices.GCHandle"),
        "System.Collections.ObjectModel.ObservableCollection<int>", "System.Collections.ObjectModel.ReadOnlyCollection<int>",
        "List<System.IO.Stream>", "Dictionary<string, Task>", "Lazy<int>[]", "(int, Lazy<int>)", "List<List<UriBuilder>>", "Dictionary<Type, int>",
        "KeyValuePair<int, Regexes>".Replace("Regexes", "System.Text.RegularExpressions.Regex"), "Queue<Thread>", "ImmutableArray<Type>",
        "Listed", "Keyed", "IProgress<int>", "IAsyncEnumerable<int>", "Activator".Replace("Activator", "System.Threading.Barrier"), "Lock",
        "ReaderWriterLockSlim", "System.Xml.Linq.XElement", "System.Xml.XmlDocument", "System.Net.Mail.MailAddress", "System.Text.Encoding",
        "System.Text.Rune", "System.Buffers.ReadOnlySequence<byte>", "System.Threading.Channels.Channel<int>",
            "System.Security.Claims.ClaimsPrincipal",
        "System.Data.DataTable", "Cell<Type>", "List<Cell<Lazy<int>>>", "System.Collections.Specialized.NameValueCollection",
        "OperatingSystem", "AppDomain", "System.Diagnostics.Activity", "System.IO.FileInfo", "System.IO.DirectoryInfo",
            "System.Net.Sockets.Socket",
        "System.Security.Cryptography.SHA256", "System.Security.Cryptography.Aes", "TimeProvider", "PeriodicTimer", "Mutex",
            "EventWaitHandle",
        "System.Collections.Generic.IAsyncEnumerator<int>", "System.Runtime.CompilerServices.ConditionalWeakTable<string, string>",
        "System.IO.StringWriter", "System.IO.BinaryReader", "System.Numerics.Vector3", "System.Numerics.Complex", "Nullable<Index>",
        "Action", "Func<int>", "Action<string>", "Func<int, string>", "Delegate", "MulticastDelegate", "List<Action>", "Func<int>[]",
        "(int, Action)", "EventHandler", "Cell<Func<int>>", "ValueTuple",
    ];

    /// <summary>Types of fields that a checkpoint can hold.</summary>
    internal static readonly string[] Kept =
    [
        "bool", "byte", "sbyte", "short", "ushort", "int", "uint", "long", "ulong", "nint", "nuint", "char", "float", "double",
            "decimal", "string",
        "object", "Half", "Int128", "UInt128", "DateTime", "DateTimeOffset", "TimeSpan", "DateOnly", "TimeOnly", "Guid", "DayOfWeek",
            "int?", "Guid?",
        "DateTime?", "decimal?", "int[]", "string[]", "int[,]", "int[][]", "List<int>", "List<string>", "List<List<int>>",
            "Dictionary<string, int>",
        "Dictionary<Guid, List<string>>", "SortedDictionary<string, int>", "SortedList<int, int>", "HashSet<int>", "SortedSet<string>",
            "Queue<int>",
        "Stack<int>", "LinkedList<int>", "ImmutableArray<int>", "ImmutableArray<string>", "(int, string)", "(int A, (string B, long C))",
            "Tuple<int, string>",
        "KeyValuePair<string, int>", "KeyValuePair<string, int>[]", "Exception", "InvalidOperationException", "AggregateException",
        "IEnumerable<int>", "ICollection<int>", "IList<int>", "IReadOnlyList<int>",
            "IReadOnlyCollection<string>",
        "IDictionary<string, int>", "IReadOnlyDictionary<string, int>", "ISet<int>", "IReadOnlySet<int>", "IComparable", "IDisposable",
            "Call", "Call<int>",
        "Call<string>[]", "List<Call<int>>", "CallCancellation", "RecurringTimer", "IXProxy", "List<IXProxy>",
            "Dictionary<string, IXProxy>", "Plain", "Shown",
        "IForm", "List<IForm>", "Point", "Point?", "Point[]", "Cell<int>", "Cell<string>", "Cell<Point>", "Form", "Failed", "Serialized",
        "List<Serialized>", "Dictionary<int, Plain[]>", "Dictionary<Point, string>", "Stack<(int, Guid)>", "Queue<Plain?>",
            "LinkedList<Shown>", "DayOfWeek[]",
        "Array", "Random", "List<object>",
        "System.Text.StringBuilder", "System.Collections.BitArray", "Uri", "Version", "System.Numerics.BigInteger", "PriorityQueue<string, int>",
        "ImmutableList<Uri>", "ImmutableDictionary<string, Plain>", "ImmutableHashSet<int>", "ImmutableSortedDictionary<string, int>",
        "ImmutableSortedSet<int>", "ImmutableQueue<int>", "ImmutableStack<int>", "IImmutableList<int>", "ProxyOf<IX>",
    ];

    public static TheoryData<string> LostMembers =>
    [
        "public int «A» { get; private set; }", "public int «A» { get; } = 1;", "public List<int> «A» { get; } = [];",
            "public readonly int «A» = 1;",
        "public int «A» { get; internal set; }", "public int «A» { get; protected set; }",
            "public string «A» { get; private init; } = \"\";",
        "internal int «A» { get; set; }", "private int «A» { get; set; }", "public Dictionary<string, int> «A» { get; } = [];",
    ];

    public static TheoryData<string> WholeTypes =>
    [
        "[Data] public sealed record D(int A, string B);", "[Data] public sealed class D { public int A { get; set; } }",
        "[Data] public sealed class D { public int A { get; init; } public required string B { get; init; } }",
        "[Data] public sealed class D(int a) { public int A { get; } = a; }", "[Data] public sealed class D { public int A; }",
        "[Data] public readonly record struct D(int A, long B);",
            "[Data] public sealed class D { private int _a; public int A { get => _a; set => _a = value; } }",
        "[Data] public sealed class D { public int A { get; set; } public int Twice => 2 * A; }",
            "[Data] public sealed class D { [NotState] public int A { get; private set; } }",
        "[Data] public sealed class D { public D(int a, string b) { A = a; B = b; } public int A { get; } public string B { get; } }",
        "[Data] public record D(int A) { public List<int> B { get; init; } = []; }",
            "[Data] public sealed record D(int A) { public static int Made; }",
    ];

    private const string Types = """
        public sealed class Plain { private int _a; internal List<string> B { get; } = []; }
        public sealed record Shown(int A, string B);
        public interface IForm; public abstract class Form : IForm { protected int Rows; } public sealed class Round : Form;
        public readonly record struct Point(int X, int Y);
        public sealed class Cell<T> { private T _value; }
        public sealed class Failed(string message) : Exception(message);
        public sealed class Listed : List<int>; public sealed class Keyed : Dictionary<string, int>;
        [StateSerializer(typeof(S))] public sealed class Serialized { private Uri _at; } public sealed class S
            : IStateSerializer<Serialized> { public void Write(ref Ambrosia.Protocol.CborWriter to,
                Serialized value) { } public Serialized Read(ref Ambrosia.Protocol.CborReader from) => new(); }
        """;

    [Fact]
    public void Field_ThatNoCheckpointHolds_IsReported() => AssertFields(s_unkept, "AMB131");

    [Fact]
    public void Field_ThatACheckpointHolds_IsNotReported() => AssertFields(Kept);

    /// <summary>A field of type Random may hold the immortal's own, which a checkpoint keeps, and no other.</summary>
    [Theory]
    [InlineData("private Random _dice = «new Random(5)»; public void Go() { } }")]
    [InlineData("private Random? _dice; public void Go() => _dice ??= «new Random(5)»; }")]
    [InlineData("public Random Dice { get; } = «new(5)»; public void Go() { } }")]
    [InlineData("private readonly Part _part = new(); public void Go() => _part.Dice = «new Random(5)»; } public sealed class Part { internal Random Dice; }")]
    [InlineData("public event Action? «Sold»; public void Go() => Sold?.Invoke(); }")]
    [InlineData("private Part _part = new(); public void Go() { } } public sealed class Part { public event EventHandler? «Sold», B; }", 2)]
    public void State_ThatIsFilledWithWhatNoCheckpointHolds_IsReported(string rest, int count = 1) => AssertMarked("AMB131",
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}", count);

    /// <summary>The type of the place does not tell what stands behind it, or how it compares.</summary>
    [Theory]
    [InlineData("private HashSet<string> _a = «new(StringComparer.InvariantCultureIgnoreCase)»; public void Go() { } }")]
    [InlineData("private SortedSet<int> _a = «new(Comparer<int>.Create((x, y) => y - x))»; public void Go() { } }")]
    [InlineData("private HashSet<HashSet<int>> _a = «new(HashSet<int>.CreateSetComparer())»; public void Go() { } }")]
    [InlineData("private Dictionary<string, int> _a; public void Go() => _a = «new List<string>().ToDictionary(t => t, t => 1, StringComparer.InvariantCulture)»; }")]
    [InlineData("private ImmutableDictionary<string, string> _a = «ImmutableDictionary.Create<string, string>(null, StringComparer.CurrentCulture)»; public void Go() { } }")]
    [InlineData("private IEnumerable<int> _a; public void Go() => _a = «new List<int>().Where(n => n > 1)»; }")]
    [InlineData("private IReadOnlyList<int> _a; public void Go() => _a = «new List<int>().AsReadOnly()»; }")]
    [InlineData("private IReadOnlyDictionary<int, int> _a; public void Go() => _a = «new Dictionary<int, int>().ToFrozenDictionary()»; }")]
    [InlineData("private IDictionary<int, int> _a = «new ConcurrentDictionary<int, int>()»; public void Go() { } }")]
    [InlineData("private object _a; public void Go() => _a = «new Lazy<int>(5)»; }")]
    public void State_ThatIsFilledWithWhatItsPlaceDoesNotTell_IsReported(string rest) => AssertMarked("AMB131",
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}");

    [Theory]
    [InlineData("private ImmutableHashSet<Shown> «_a»; public void Go() { } } public sealed record Shown(int A);")]
    [InlineData("private ImmutableDictionary<(int, int), string> «_a»; public void Go() { } }")]
    [InlineData("private ImmutableDictionary<int?, string> «_a»; public void Go() { } }")]
    [InlineData("private Part _part; public void Go() { } } [System.Runtime.Serialization.DataContract] public sealed class Part { private int «_a»; [System.Runtime.Serialization.DataMember] private int _b; [System.Runtime.Serialization.IgnoreDataMember] private int _c; [NotState] private int _d; }")]
    public void Field_ThatACheckpointWouldLose_IsReported(string rest) => AssertMarked("AMB131",
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}");

    [Theory]
    [InlineData("[NotState] private readonly Dictionary<string, int> «_cache» = new(); public void Go() { } }")]
    [InlineData("[NotState] private int «_limit» = 5; public void Go() { } }")]
    [InlineData("[NotState] public List<int> «Last» { get; } = []; public void Go() { } }")]
    [InlineData("[NotState] private readonly List<int> «_made»; public X() => _made = []; public void Go() { } }")]
    [InlineData("private Part _part; public void Go() { } } public sealed class Part { [NotState] private List<int> «_a» = []; }")]
    public void LeftOut_WhatNoRestoreMakes_IsReported(string rest) => AssertMarked("AMB134",
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}");

    [Theory]
    [InlineData("[NotState] private Dictionary<string, int>? _cache; public void Go() => (_cache ??= [])[\"a\"] = 1; }")]
    [InlineData("[NotState] private string _text = null!; [NotState] private int _a = 0; [NotState] private int? _b = default; public void Go() { } }")]
    [InlineData("[NotState] public static int s_a = 5; public void Go() { } }")]
    [InlineData("public void Go() { } } public sealed class Elsewhere { [NotState] private List<int> _a = []; }")]
    public void LeftOut_WhatIsMadeWhereItIsNeeded_IsNotReported(string rest) => Assert.Empty(Found(
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}"));

    [Theory]
    [InlineData("private Random? _dice; public void Go() => _dice = Random; }")]
    [InlineData("private IList<int> _a; private List<IList<int>> _all = []; public void Go() => _a = _all.First(); }")]
    [InlineData("private IEnumerable<object> _a; public void Go() => _a = new List<string>().Cast<object>(); }")]
    [InlineData("private IEnumerable<int> _a; private List<int> _b = []; public void Go() => _a = _b.Count > 5 ? _b.AsEnumerable() : Enumerable.Empty<int>(); }")]
    [InlineData("private HashSet<string> _a = new(StringComparer.Ordinal); private SortedSet<int> _b; public void Go() { _b = new(Comparer<int>.Default); _a = new(_a.Comparer); } }")]
    [InlineData("private int _last; public void Go() { var dice = new Random(5); _last = dice.Next(); } }")]
    [InlineData("[NotState] private Random? _dice; public void Go() => _dice ??= new(5); }")]
    [InlineData("[NotState] public Random? Dice { get; private set; } public void Go() => Dice = new(5); }")]
    [InlineData("private HashSet<string> _a = new(StringComparer.OrdinalIgnoreCase); private SortedSet<string> _b = new(StringComparer.Ordinal); public void Go() { } }")]
    [InlineData("private IReadOnlyList<int> _a = new List<int> { 2 }.Where(n => n > 1).ToList(); public void Go() { } }")]
    [InlineData("public event Action Sold { add { } remove { } } public void Go() { } }")]
    [InlineData("[field: NotState] public event Action? Sold; public void Go() { } }")]
    [InlineData("private static readonly Random s_dice = new(5); public void Go() { } }")]
    [InlineData("public void Go() { } } public sealed class Elsewhere { private Random _dice = new(5); private Func<int> _ask; }")]
    public void State_ThatIsFilledWithWhatACheckpointHolds_IsNotReported(string rest) => Assert.Empty(Found(
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}"));

    /// <summary>A field is state wherever the immortal leads to it.</summary>
    [Theory]
    [InlineData("private Part _part; public void Go() { } } public sealed class Part { private Type «_at»; }")]
    [InlineData("private List<Part[]> _parts; public void Go() { } } public sealed class Part { public Type «At» { get; set; } }")]
    [InlineData("private IPart _part; public void Go() { } } public interface IPart; public sealed class Part : IPart { private Type «_at»; }")]
    [InlineData("private Base _part; public void Go() { } } public abstract class Base; public sealed class Part : Base { private Type «_at»; }")]
    [InlineData("private Part _part; public void Go() { } } public abstract class Base { private Type «_at»; } public sealed class Part : Base;")]
    [InlineData("private Cell<Part> _part; public void Go() { } } public sealed class Cell<T> { private T _value; } public struct Part { private Type «_at»; }")]
    [InlineData("public void Go() { } public Lazy<int> «Late» { get; set; } }")]
    public void Field_WhereverTheStateLeads_IsReported(string rest) => AssertMarked("AMB131",
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}");

    [Theory]
    [InlineData("[NotState] private Uri _at; public void Go() { } }")]
    [InlineData("[NotState] public Uri At { get; set; } public void Go() { } }")]
    [InlineData("private static readonly Uri s_at = new(\"http://a\"); public void Go() { } }")]
    [InlineData("public void Go() { } } public sealed class Elsewhere { private Uri _at; }")]
    [InlineData("[NotState] private Part _part; public void Go() { } } public sealed class Part { private Uri _at; }")]
    public void Field_ThatIsNoState_IsNotReported(string rest) => Assert.Empty(Found(
        $"public partial class X : Immortal<IXProxy>, IX {{ {rest}"));

    [Theory]
    [InlineData("public enum Mood { [FormerlyNamed(\"Glad\")] Happy, [FormerlyNamed(\"Glad\")] «Merry» }")]
    [InlineData("public sealed record Shown([property: FormerlyNamed(\"Text\")] string A) { [FormerlyNamed(\"Text\")] public string «B» { get; init; } }")]
    [InlineData("public struct Point { [FormerlyNamed(\"A\")] public int X; [FormerlyNamed(\"B\"), FormerlyNamed(\"A\")] private int «_y»; }")]
    public void FormerName_OfTwoMembers_IsReported(string type) => AssertMarked("AMB135", type);

    [Theory]
    [InlineData("public enum Mood { [FormerlyNamed(\"Glad\")] Happy, [FormerlyNamed(\"Sad\")] Glad, [FormerlyNamed(\"Happy\")] Sad }")]
    [InlineData("public class Base { [FormerlyNamed(\"A\")] private int _a; } public sealed class Heir : Base { [FormerlyNamed(\"A\")] private int _a; }")]
    [InlineData("public sealed class Twice { [FormerlyNamed(\"A\"), FormerlyNamed(\"A\")] private int _a; }")]
    public void FormerName_OfOneMember_IsNotReported(string type) => Assert.Empty(Found(type));

    [Theory]
    [MemberData(nameof(LostMembers))]
    public void Member_ThatDoesNotArrive_IsReported(string member) => AssertMarked("AMB132",
        $"[Data] public class D {{ public int Kept {{ get; set; }} {member} }}");

    [Theory]
    [MemberData(nameof(WholeTypes))]
    public void Type_ThatArrivesWhole_IsNotReported(string type) => Assert.Empty(Found(type));

    [Theory]
    [InlineData("var «text» = new System.IO.StringWriter(); await Delay(TimeSpan.Zero); text.Write('a');")]
    [InlineData("using var «stream» = new System.IO.MemoryStream(); await Delay(TimeSpan.Zero);")]
    [InlineData("using (var «stream» = new System.IO.MemoryStream()) await Delay(TimeSpan.Zero);")]
    [InlineData("IEnumerator<int> «all» = new List<int>().GetEnumerator(); await Delay(TimeSpan.Zero);")]
    [InlineData("if (_any is Type «at») await Delay(TimeSpan.Zero);")]
    [InlineData("System.Net.IPAddress.TryParse(\"a\", out System.Net.IPAddress? «at»); await Delay(TimeSpan.Zero);")]
    [InlineData("List<Action> «all» = []; await Delay(TimeSpan.Zero); all.Clear();")]
    [InlineData("Func<int>[] «all» = [() => 5]; await Delay(TimeSpan.Zero); _any = all[0]();")]
    [InlineData("Action<string> «tell» = Console.WriteLine; await Delay(TimeSpan.Zero); tell(\"a\");")]
    public void Local_OfASuspendedMethod_IsReported(string body) =>
        AssertMarked("AMB127", $"public partial class X : Immortal<IXProxy>, IX {{ private object _any; public void Go() {{ }} async Call Later() {{ {body} }} }}");

    [Theory]
    [InlineData("int a = 5; await Delay(TimeSpan.Zero); _any = a;")]
    [InlineData("List<int>.Enumerator all = new List<int>().GetEnumerator(); await Delay(TimeSpan.Zero); all.MoveNext();")]
    [InlineData("Func<string> tell = () => \"a\"; await Delay(TimeSpan.Zero); _any = tell();")]
    [InlineData("(Func<int> Ask, int A) pair = (() => 5, 2); await Delay(TimeSpan.Zero); _any = pair.Ask();")]
    [InlineData("Call one = Delay(TimeSpan.Zero); await one;")]
    [InlineData("try { await Delay(TimeSpan.Zero); } catch (InvalidOperationException e) { _any = e.Message; }")]
    [InlineData("Told(); await Delay(TimeSpan.Zero); void Told() { var text = new System.Text.StringBuilder(); _any = text.ToString(); }")]
    public void Local_ThatACheckpointHolds_IsNotReported(string body) =>
        Assert.Empty(Found($"public partial class X : Immortal<IXProxy>, IX {{ private object _any; public void Go() {{ }} async Call Later() {{ {body} }} }}"));

    [Fact]
    public void Rows_OfBothKinds_AreAHundred()
    {
        Assert.True(s_unkept.Length + LostMembers.Count >= 100, $"{s_unkept.Length + LostMembers.Count}");
        Assert.True(Kept.Length + WholeTypes.Count >= 100, $"{Kept.Length + WholeTypes.Count}");
    }

    /// <summary>Makes a field of each type, and asserts that each of them, or none, is reported.</summary>
    private static void AssertFields(string[] types, params string[] rules)
    {
        string[] names = [.. types.Select(static (_, i) => $"_field{i}")];
        string fields = string.Join('\n', types.Select((type, i) => $"private {type} {names[i]};"));

        string[] found = Analysis.Marks(Found(
            $"public partial class X : Immortal<IXProxy>, IX {{ {fields}\n public void Go() {{ }} }} {Types}"));

        Assert.Equal(names.SelectMany(name => rules.Select(rule => $"{rule} {name}")), found);
    }

    private static Diagnostic[] Found(string source) => Analysis.Of(Generation.Of(Head + source), isInvariant: true);

    private static void AssertMarked(string id, string source, int count = 1)
    {
        string plain = source.Replace("«", "", StringComparison.Ordinal).Replace("»", "", StringComparison.Ordinal);
        string marked = source[(source.IndexOf('«') + 1)..source.IndexOf('»')];

        Diagnostic[] all = Found(plain);

        Assert.Equal(count, all.Length);
        Diagnostic found = all[0];

        Assert.Equal((id, marked), (found.Id, Analysis.TextAt(found)));
        Assert.Equal(DiagnosticSeverity.Error, found.Severity);
    }
}
