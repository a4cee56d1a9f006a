using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Each mistake that the rules name, behind each way by which code hides it from a reader: all of them are in one app, and each is an error
/// at its own line, with the way there, and nothing else is.
/// </summary>
public sealed class WayTests
{
    private const string Head = """
        #pragma warning disable CS0649, CS0169, CS0168, CS0219, CS1998, CS4014, CS8618, CS8602, CS0414, CS8321, CS8600, CS8604, CS0067
        namespace Demo;
        using System.Linq; using System.Threading; using System.Globalization; using System.Collections.Concurrent; using System.Collections.Immutable;
        public interface IOther { void Go(); Call Later(); Call<int> Ask(); [ImpulseHandler] void Said(string a); void Take(ICollection<int> a); void Say(int a); }
        public sealed record Named(string Name); public readonly record struct Marked(string Name); public sealed class Timed { public DateTime At { get; set; } }
        public sealed class Counted { public static readonly Counted Of = new(); [NotState] public int Views; [NotState] public List<int> Seen = null!; public int Kept; }
        public static class Statics
        {
            public static int Count; public static readonly List<int> List = [];
            public static readonly System.Collections.Frozen.FrozenSet<int> Frozen = System.Collections.Frozen.FrozenSet.Create(1); [ThreadStatic] public static int Own;
            public static string Name { get; set; } = "";
            [NonDeterministic("it draws lots")] public static int Lots() => 1;
        }
        public sealed class Part { public int Views; public int Seen { get; set; } public List<int> All = []; public int[] Some = []; }

        """;

    /// <summary>Mistakes that are made anywhere: a rule, and a statement. <c>other</c> is a proxy.</summary>
    private static readonly (string Id, string Statement)[] s_anywhere =
    [
        ("AMB101", "_ = DateTime.Now;"), ("AMB101", "_ = DateTime.UtcNow.Ticks;"), ("AMB101", "_ = DateTimeOffset.UtcNow;"),
        ("AMB101", "_ = DateTime.Today;"), ("AMB101", "_ = Environment.TickCount64;"),
        ("AMB101", "_ = System.Diagnostics.Stopwatch.GetTimestamp();"), ("AMB101", "_ = TimeProvider.System.GetUtcNow();"),
        ("AMB101", "_ = TimeZoneInfo.Local;"),
        ("AMB102", "_ = new Random().Next();"), ("AMB102", "_ = Random.Shared.Next();"),
        ("AMB102", "_ = System.Security.Cryptography.RandomNumberGenerator.GetInt32(5);"),
        ("AMB102", "_ = System.IO.Path.GetRandomFileName();"),
        ("AMB103", "_ = Guid.NewGuid();"), ("AMB103", "_ = Guid.CreateVersion7();"),
        ("AMB104", "Task.Run(() => { });"), ("AMB104", "Task.Factory.StartNew(() => { });"), ("AMB104", "_ = new Thread(() => { });"),
        ("AMB104", "lock (other) { }"), ("AMB104", "Monitor.Enter(other);"), ("AMB104", "_ = new Timer(_ => { });"),
        ("AMB104", "_ = new System.Timers.Timer();"), ("AMB104", "_ = new PeriodicTimer(TimeSpan.Zero);"),
        ("AMB104", "Parallel.For(0, 3, _ => { });"), ("AMB104", "Thread.Sleep(1);"),
        ("AMB104", "_ = new List<int>().AsParallel().Count();"),
        ("AMB104", "_ = Task.Delay(5);"), ("AMB104", "ThreadPool.QueueUserWorkItem(_ => { });"), ("AMB104", "_ = new SemaphoreSlim(1);"),
        ("AMB104", "_ = Task.CompletedTask.ConfigureAwait(false);"), ("AMB104", "using (new CancellationTokenSource(5)) { }"),
        ("AMB105", "_ = Wait(); async Task Wait() => await Task.FromResult(1);"), ("AMB105", "Wait(); async void Wait() { }"),
        ("AMB105", "_ = Wait(); async Call Wait() { await Task.CompletedTask; }"),
        ("AMB104", "_ = Wait(); async Call Wait() { await Task.Yield(); }"),
        ("AMB106", "_ = System.IO.File.ReadAllText(\"a\");"), ("AMB106", "_ = new System.IO.FileStream(\"a\", System.IO.FileMode.Open);"),
        ("AMB106", "_ = new System.IO.StreamReader(\"a\");"), ("AMB106", "_ = new System.Net.Http.HttpClient();"),
        ("AMB106", "_ = Console.ReadLine();"), ("AMB106", "_ = Environment.MachineName;"),
        ("AMB106", "_ = Environment.GetEnvironmentVariable(\"a\");"), ("AMB106", "_ = Environment.ProcessorCount;"),
        ("AMB106", "_ = AppContext.BaseDirectory;"), ("AMB106", "_ = System.Diagnostics.Process.GetCurrentProcess();"),
        ("AMB106", "_ = System.Runtime.InteropServices.RuntimeInformation.OSDescription;"),
        ("AMB106", "_ = new System.Net.Sockets.TcpClient();"),
        ("AMB107", "Statics.Count++;"), ("AMB107", "_ = Statics.Count;"), ("AMB107", "Statics.List.Add(1);"),
        ("AMB107", "Statics.Name = \"a\";"),
        ("AMB108", "new AsyncLocal<int>().Value = 1;"), ("AMB108", "Statics.Own = 1;"), ("AMB108", "dynamic d = 5; d.CompareTo(3);"),
        ("AMB109", "foreach (int k in new ConcurrentDictionary<int, int>().Keys) other.GoFork();"),
        ("AMB109", "foreach (int k in ImmutableHashSet.Create(1, 2)) other.GoFork();"),
        ("AMB109", "foreach (var k in new System.Collections.Hashtable()) other.GoFork();"),
        ("AMB109", "_ = System.Collections.Frozen.FrozenSet.ToFrozenSet(new[] { 1 }).First();"),
        ("AMB109", "_ = ImmutableDictionary<string, int>.Empty.Select(a => a.Key).ToList();"),
        ("AMB110", "_ = \"a\".GetHashCode();"), ("AMB110", "_ = HashCode.Combine(1, 2);"), ("AMB110", "_ = new object().GetHashCode();"),
        ("AMB110", "_ = StringComparer.Ordinal.GetHashCode(\"a\");"),
        ("AMB111", "new List<string>().Sort();"), ("AMB111", "Array.Sort(new string[3]);"),
        ("AMB111", "_ = new string[3].OrderBy(a => a);"),
        ("AMB111", "_ = new SortedSet<string>();"), ("AMB111", "_ = string.Compare(\"a\", \"b\");"), ("AMB111", "_ = 1.5.ToString();"),
        ("AMB111", "_ = DateTime.UnixEpoch.ToString();"), ("AMB111", "_ = double.Parse(\"1\");"),
        ("AMB111", "_ = decimal.TryParse(\"1\", out _);"),
        ("AMB111", "string s = $\"{1.5m}\";"), ("AMB111", "double d = 2; string s = \"a\" + d;"), ("AMB111", "_ = 5.ToString(\"N0\");"),
        ("AMB111", "_ = \"a\".ToUpper();"), ("AMB111", "_ = CultureInfo.CurrentCulture;"), ("AMB111", "_ = string.Format(\"{0}\", 1.5);"),
        ("AMB112", "GC.Collect();"), ("AMB112", "_ = new WeakReference(other);"), ("AMB112", "_ = GC.GetTotalMemory(false);"),
        ("AMB112", "_ = new WeakReference<object>(other);"),
        ("AMB113", "IServiceProvider p = null!; _ = p.GetService(typeof(int));"),
        ("AMB114", "_ = Statics.Lots();"),
        // The zone of the machine, and its data, on the way of a conversion
        ("AMB101", "_ = DateTime.Parse(\"a\", CultureInfo.InvariantCulture);"),
        ("AMB101", "_ = DateTime.Parse(\"a\", CultureInfo.InvariantCulture, DateTimeStyles.RoundtripKind);"),
        ("AMB101", "_ = DateTime.TryParse(\"a\", CultureInfo.InvariantCulture, DateTimeStyles.None, out _);"),
        ("AMB101", "_ = DateTime.ParseExact(\"a\", \"yyyy-MM-ddTHH:mm:ssK\", CultureInfo.InvariantCulture);"),
        ("AMB101", "_ = DateTime.ParseExact(\"a\", new[] { \"s\", \"o\" }, CultureInfo.InvariantCulture, DateTimeStyles.None);"),
        ("AMB101", "_ = DateTime.ParseExact(\"a\", \"s\", CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);"),
        ("AMB101", "_ = DateTimeOffset.Parse(\"a\", CultureInfo.InvariantCulture);"),
        ("AMB101", "_ = DateTimeOffset.ParseExact(\"a\", \"yyyy-MM-dd\", CultureInfo.InvariantCulture);"),
        ("AMB101", "_ = new DateTimeOffset(new DateTime(2026, 7, 1));"), ("AMB101", "DateTimeOffset at = new DateTime(2026, 7, 1);"),
        ("AMB101", "_ = DateTimeOffset.UnixEpoch < new DateTime(2026, 7, 1);"), ("AMB101", "_ = Convert.ToDateTime(\"a\", CultureInfo.InvariantCulture);"),
        ("AMB101", "_ = DateTime.UnixEpoch.ToString(\"yyyy zzz\", CultureInfo.InvariantCulture);"),
        ("AMB101", "_ = DateTime.UnixEpoch.ToString(\"U\", CultureInfo.InvariantCulture);"),
        ("AMB101", "_ = string.Create(CultureInfo.InvariantCulture, $\"{DateTime.UnixEpoch:HH zzz}\");"),
        ("AMB101", "_ = string.Format(CultureInfo.InvariantCulture, \"{0:HH zzz}\", DateTime.UnixEpoch);"),
        ("AMB101", "_ = DateTime.FromFileTime(5);"), ("AMB101", "_ = DateTimeOffset.FromFileTime(5);"), ("AMB101", "_ = DateTime.FromBinary(5);"),
        ("AMB101", "#pragma warning disable CS0618\n_ = TimeZone.CurrentTimeZone;"), ("AMB101", "_ = DateTime.UnixEpoch.IsDaylightSavingTime();"),
        ("AMB101", "_ = System.Text.Json.JsonSerializer.Deserialize<DateTime>(\"a\");"),
        ("AMB101", "_ = System.Text.Json.JsonSerializer.Deserialize<List<Timed>>(\"a\");"),
        ("AMB101", "_ = default(System.Text.Json.JsonElement).GetDateTimeOffset();"), ("AMB101", "_ = DateTime.UnixEpoch.ToFileTime();"),
        ("AMB101", "_ = TimeZoneInfo.FindSystemTimeZoneById(\"Europe/Berlin\");"), ("AMB101", "_ = TimeZoneInfo.GetSystemTimeZones().Count;"),
        ("AMB101", "_ = TimeZoneInfo.ConvertTime(DateTime.UnixEpoch, TimeZoneInfo.Utc);"),
        ("AMB101", "_ = DateTime.SpecifyKind(DateTime.UnixEpoch, DateTimeKind.Local);"),
        ("AMB101", "_ = new DateTime(5, DateTimeKind.Local);"), ("AMB101", "_ = System.Xml.XmlConvert.ToDateTimeOffset(\"a\");"),
        // Hash codes of what is made of others
        ("AMB110", "_ = new Named(\"a\").GetHashCode();"), ("AMB110", "_ = (\"a\", 1).GetHashCode();"), ("AMB110", "_ = (1, 2).GetHashCode();"),
        ("AMB110", "_ = new Marked(\"a\").GetHashCode();"), ("AMB110", "_ = typeof(int).GetHashCode();"), ("AMB110", "_ = new { A = 1 }.GetHashCode();"),
        ("AMB110", "IEqualityComparer<string> equality = StringComparer.Ordinal; _ = equality.GetHashCode(\"a\");"),
        // Cultures, and their data
        ("AMB111", "_ = new string[3].Max();"), ("AMB111", "_ = new List<string>().Min();"), ("AMB111", "_ = new string[3].MinBy(a => a);"),
        ("AMB111", "_ = new int[3].MaxBy(a => (\"a\", a));"), ("AMB111", "_ = DateTime.UnixEpoch.ToLongDateString();"),
        ("AMB111", "_ = DateTime.UnixEpoch.ToShortDateString();"), ("AMB111", "_ = DateTime.UnixEpoch.ToLongTimeString();"),
        ("AMB111", "_ = new System.Text.RegularExpressions.Regex(\"a\", System.Text.RegularExpressions.RegexOptions.IgnoreCase);"),
        ("AMB111", "_ = System.Text.RegularExpressions.Regex.IsMatch(\"a\", \"(?i)a\");"),
        ("AMB111", "_ = CultureInfo.GetCultureInfo(\"de-DE\");"), ("AMB111", "_ = new CultureInfo(\"de-DE\");"),
        ("AMB111", "_ = string.Equals(\"a\", \"b\", StringComparison.InvariantCulture);"), ("AMB111", "_ = new List<(string, int)>().Order();"),
        ("AMB111", "_ = Comparer<string>.Default;"), ("AMB111", "_ = ImmutableSortedSet.Create(\"a\");"),
        ("AMB111", "_ = ImmutableSortedSet<string>.Empty;"), ("AMB111", "_ = new[] { \"a\" }.ToImmutableSortedSet();"),
        ("AMB111", "_ = Array.BinarySearch(new string[3], \"a\");"), ("AMB111", "_ = char.ToUpper('i');"),
        ("AMB111", "double d = 2; _ = new System.Text.StringBuilder().Append(d);"), ("AMB111", "double d = 2; _ = Convert.ToString(d);"),
        ("AMB111", "_ = string.Join(\",\", new double[2]);"), ("AMB111", "_ = string.Concat((object)5, DateTime.UnixEpoch);"),
        // The stack, memory as it was, the processor, the place
        ("AMB106", "_ = new InvalidOperationException().ToString();"), ("AMB106", "string s = $\"{new Exception()}\";"),
        ("AMB106", "string s = \"a\" + new Exception();"), ("AMB106", "_ = string.Format(\"{0}\", new Exception());"),
        ("AMB106", "_ = string.Create(CultureInfo.InvariantCulture, $\"{new Exception()}\");"),
        ("AMB106", "_ = typeof(int).Assembly.Location;"),
        ("AMB112", "_ = System.Buffers.ArrayPool<byte>.Shared.Rent(5);"), ("AMB112", "_ = GC.AllocateUninitializedArray<byte>(5);"),
        ("AMB112", "_ = System.Buffers.MemoryPool<byte>.Shared;"),
        ("AMB115", "_ = System.Numerics.Vector<int>.Count;"), ("AMB115", "_ = System.Numerics.Vector.IsHardwareAccelerated;"),
        ("AMB115", "_ = System.Runtime.Intrinsics.Vector256.IsHardwareAccelerated;"), ("AMB115", "_ = IntPtr.Size;"),
        ("AMB115", "_ = System.Runtime.Intrinsics.X86.Avx512F.IsSupported;"), ("AMB115", "_ = System.Runtime.Intrinsics.X86.Avx512F.X64.IsSupported;"),
        ("AMB115", "_ = Math.ReciprocalEstimate(3);"),
        // The order of hash codes where the framework goes through them, and that of members
        ("AMB109", "_ = string.Join(\",\", ImmutableHashSet.Create(\"a\"));"), ("AMB109", "_ = new List<string>(ImmutableHashSet.Create(\"a\"));"),
        ("AMB109", "int[] a = [.. ImmutableHashSet.Create(1, 2)];"), ("AMB109", "_ = Statics.Frozen.Items[0];"),
        ("AMB109", "foreach (int a in Statics.Frozen.Items) other.GoFork();"), ("AMB109", "IEnumerable<int> a = Statics.Frozen;"),
        ("AMB109", "_ = new Dictionary<int, int>(ImmutableDictionary<int, int>.Empty);"),
        ("AMB109", "_ = ImmutableHashSet.Create(1).ToHashSet();"), ("AMB109", "_ = ImmutableHashSet.Create(1.5).Sum();"),
        ("AMB109", "other.TakeFork(new ConcurrentDictionary<int, int>().Keys);"),
        ("AMB109", "other.TakeFork(System.Collections.Frozen.FrozenDictionary<int, int>.Empty.Keys);"),
        ("AMB109", "foreach (var a in typeof(int).GetMembers()) other.GoFork();"), ("AMB109", "_ = typeof(int).GetProperties()[0];"),
        // Numbers that are counted outside of the state
        ("AMB116", "other.SayFork(++Counted.Of.Views);"), ("AMB116", "Counted.Of.Views++; int a = Counted.Of.Views; other.SayFork(a + 1);"),
        ("AMB116", "Counted.Of.Seen.Add(1); other.SayFork(Counted.Of.Seen.Count);"),
        ("AMB116", "Counted.Of.Kept = ++Counted.Of.Views;"),
        ("AMB121", "other.GoAsync();"), ("AMB121", "other.AskAsync();"),
        ("AMB123", "_ = other.SaidLogged(\"a\");"),
    ];

    /// <summary>Mistakes that need an await around them.</summary>
    private static readonly (string Id, string Statement)[] s_suspended =
    [
        ("AMB105", "await Task.FromResult(1);"), ("AMB105", "await new ValueTask();"), ("AMB104", "await Task.Yield();"),
        ("AMB104", "await Task.Delay(5);"), ("AMB104", "await Task.Run(() => { });"),
        ("AMB122", "Call one = other.GoAsync(); await one; await one;"),
        ("AMB122", "Call one = other.GoAsync(); for (int i = 0; i < 3; i++) await one;"),
        ("AMB126", "foreach (var a in new Dictionary<int, int>()) await other.GoAsync();"),
        ("AMB126", "foreach (int a in new List<int> { 1 }.Where(b => b > 1)) await other.GoAsync();"),
        ("AMB126", "foreach (int a in Enumerable.Range(0, 3)) await other.GoAsync();"),
        ("AMB127", "Action<string> tell = Console.WriteLine; await other.GoAsync(); tell(\"a\");"),
        ("AMB127", "var text = new System.IO.StringWriter(); await other.GoAsync(); text.Write('a');"),
        ("AMB127", "Lazy<int> late = new(() => 1); await other.GoAsync(); _ = late.Value;"),
        ("AMB107", "await other.GoAsync(); Statics.Count++;"), ("AMB101", "await other.GoAsync(); _ = DateTime.UtcNow;"),
    ];

    /// <summary>Changes of the state <c>x</c> or of its part, which neither tasks nor queries make.</summary>
    private static readonly string[] s_changes =
    [
        "x.Count++;", "x.Count = 5;", "(x.Count, _) = (1, 2);", "x.Map[1] = 5;", "x.Names.Add(\"a\");", "x.Part.Views++;", "x.Part.Seen = 1;",
        "x.Part.All.Clear();", "x.Part.Some[0] = 1;", "Part p = x.Part; p.Views = 2;", "x.Map.Remove(1);", "x.Count += 2;",
    ];

    /// <summary>
    /// The ways to a statement: the body of a handler, and what stands outside of it. <c>{0}</c> is the statement, and <c>#</c> a number.
    /// </summary>
    private static readonly (string Name, string Body, string Outside)[] s_ways =
    [
        ("handler", "{0}", ""),
        ("two calls", "$return A#.First(other);",
            "static class A# { internal static $type First(IOtherProxy other) => B#.Second(other); } static class B# { internal static $async Second(IOtherProxy other) { {0} } }"),
        ("interface", "IPart# part = new Part#(); $return part.Do(other);",
            "interface IPart# { $type Do(IOtherProxy other); } sealed class Part# : IPart# { public $async Do(IOtherProxy other) { {0} } }"),
        ("lambda", "$delegate run = $lambda (IOtherProxy other) => { {0} }; $return run(other);", ""),
        ("extension method", "$return 1.Do#(other);", "static class Ext# { internal static $async Do#(this int of, IOtherProxy other) { {0} } }"),
        ("property", "$read new Holder#(other).Value;", "sealed class Holder#(IOtherProxy other) { internal $value Value { get { $inner } } }"),
        ("base class", "$return new Heir#().Do(other);",
            "abstract class Base# { protected $async Touch(IOtherProxy other) { {0} } } sealed class Heir# : Base# { internal $type Do(IOtherProxy other) => Touch(other); }"),
        ("override", "Base# made = new Heir#(); $return made.Do(other);",
            "abstract class Base# { internal abstract $type Do(IOtherProxy other); } sealed class Heir# : Base# { internal override $async Do(IOtherProxy other) { {0} } }"),
    ];

    /// <summary>The ways from a task or a query to the state: its body, and what stands outside.</summary>
    private static readonly (string Name, string Body, string Outside)[] s_waysToState =
    [
        ("two calls", "A#.First(this);",
            "static class A# { internal static void First(X x) => B#.Second(x); } static class B# { internal static void Second(X x) { {0} } }"),
        ("interface", "ITouch# touch = new Touch#(); touch.Do(this);",
            "interface ITouch# { void Do(X x); } sealed class Touch# : ITouch# { public void Do(X x) { {0} } }"),
        ("lambda", "Action<X> run = x => { {0} }; run(this);", ""),
        ("extension method", "this.Do#();", "static class Ext# { internal static void Do#(this X x) { {0} } }"),
        ("property", "_ = Value#;", "partial class X { private int Value# { get { X x = this; {0} return 1; } } }"),
        ("base class", "new Heir#().Do(this);",
            "abstract class Base# { protected void Touch(X x) { {0} } } sealed class Heir# : Base# { internal void Do(X x) => Touch(x); }"),
        ("own method", "Own#();", "partial class X { private void Own#() { var x = this; {0} } }"),
    ];

    /// <summary>
    /// The ways on which a query changes a part of the state: what it does with it, and the members of the part. <c>{this}</c> is a change
    /// of itself.
    /// </summary>
    private static readonly (string Name, string Body, string Members)[] s_waysOfParts =
    [
        ("method", "_kept#.Do();", "internal void Do() { {this} }"),
        ("two calls", "_kept#.Do();", "internal void Do() => Inner(); private void Inner() { {this} }"),
        ("property", "_ = _kept#.Value;", "internal int Value { get { {this} return 1; } }"),
        ("lambda", "_kept#.Do();", "internal void Do() { Action run = () => { {this} }; run(); }"),
        ("local function", "_kept#.Do();", "internal void Do() { Run(); void Run() { {this} } }"),
        ("parameter", "_kept#.Do();", "internal void Do() => Other(this); private static void Other(Kept# x) { {0} }"),
        ("argument", "Kept#.Take(_kept#);", "internal static void Take(Kept# x) { {0} }"),
        ("two arguments", "Kept#.Take(_kept#);", "internal static void Take(Kept# y) => Give(y); private static void Give(Kept# x) { {0} }"),
        ("local", "Kept# kept = _kept#; kept.Do();", "internal void Do() { {this} }"),
        ("what is returned", "Found#().Do();", "internal void Do() { {this} } } partial class X { private Kept# Found#() => _kept#;"),
        ("interface", "IKept# kept = _kept#; kept.Do();", "void IKept#.Do() { {this} }"),
    ];

    [Fact]
    public void Mistakes_BehindEachWay_AreErrorsAtTheirLines()
    {
        var app = new PlantedApp();
        foreach ((string name, string body, string outside) in s_ways)
        {
            foreach ((string id, string statement) in s_anywhere)
                app.Plant(id, name, statement, Plain($"partial class X {{ public void Go#() {{ {body} }} }} {outside}"), "void Go#();");
            string isAsync = name == "handler" ? "async" : "";
            foreach ((string id, string statement) in s_suspended)
                app.Plant(id, name, statement, Suspended($"partial class X {{ public {isAsync} Call Go#() {{ {body} }} }} {outside}"), "Call Go#();");
        }

        app.AssertFound(Head);
    }

    [Theory]
    [InlineData("AMB124", "public void Go#() => NondetTask(() => { {body} });", "void Go#();")]
    [InlineData("AMB125", "public int Go#() { {body} return 1; }", "[Query] int Go#();")]
    public void Changes_OfTheState_InTasksAndQueries_AreErrorsAtTheirLines(string id, string entry, string declaration)
    {
        var app = new PlantedApp();
        foreach ((string name, string body, string outside) in s_waysToState)
            foreach (string change in s_changes)
                app.Plant(id, name, change,
                    $"partial class X {{ {entry.Replace("{body}", body, StringComparison.Ordinal)} }} {outside}", declaration);

        app.AssertFound(Head);
    }

    [Fact]
    public void Changes_OfAPart_InQueries_AreErrorsAtTheirLines()
    {
        var app = new PlantedApp();
        foreach ((string name, string body, string members) in s_waysOfParts)
            foreach (string change in s_changes)
            {
                string own = change.Replace("x.", "", StringComparison.Ordinal)
                    .Replace("Part p = Part", "var p = Part", StringComparison.Ordinal);
                app.Plant("AMB125", name, members.Contains("{this}", StringComparison.Ordinal) ? own : change, $$"""
                    partial class X { private readonly Kept# _kept# = new(); public int Go#() { {{body}} return 1; } }
                    interface IKept# { void Do(); }
                    sealed class Kept# {{(name == "interface" ? ": IKept#" : "")}} { public int Count; public Dictionary<int, int> Map = []; public List<string> Names = []; public Part Part = new();
                    {{members.Replace("{this}", "{0}", StringComparison.Ordinal)}} }
                    """, "[Query] int Go#();");
            }

        app.AssertFound(Head);
    }

    private static string Plain(string template) => template.Replace("$type", "void", StringComparison.Ordinal)
        .Replace("$async", "void", StringComparison.Ordinal).Replace("$return", "", StringComparison.Ordinal)
        .Replace("$delegate", "Action<IOtherProxy>", StringComparison.Ordinal).Replace("$lambda", "", StringComparison.Ordinal)
        .Replace("$read", "_ =", StringComparison.Ordinal).Replace("$value", "int", StringComparison.Ordinal)
        .Replace("$inner", "{0} return 1;", StringComparison.Ordinal);

    private static string Suspended(string template) => template.Replace("$type", "Call", StringComparison.Ordinal)
        .Replace("$async", "async Call", StringComparison.Ordinal).Replace("$return", "return", StringComparison.Ordinal)
        .Replace("$delegate", "Func<IOtherProxy, Call>", StringComparison.Ordinal).Replace("$lambda", "async", StringComparison.Ordinal)
        .Replace("$read", "return", StringComparison.Ordinal).Replace("$value", "Call", StringComparison.Ordinal)
        .Replace("$inner", "return Run(); async Call Run() { {0} }", StringComparison.Ordinal);

    /// <summary>It is an app in which each mistake has a handler, or a query, of its own, and a line of its own.</summary>
    private sealed class PlantedApp
    {
        private readonly List<(string Id, string Name)> _planted = [];
        private readonly System.Text.StringBuilder _contract = new(), _code = new();

        /// <param name="code">Where the statement stands, {0}. Each # becomes the number of the mistake.</param>
        internal void Plant(string id, string way, string statement, string code, string declaration)
        {
            string number = $"{_planted.Count}";
            _contract.Append(declaration.Replace("#", number, StringComparison.Ordinal)).Append('\n');
            _code.Append(code.Replace("#", number, StringComparison.Ordinal)
                .Replace("{0}", $"\n{statement} // planted {number}.\n", StringComparison.Ordinal)).Append('\n');
            _planted.Add((id, $"{way}: {statement}"));
        }

        internal void AssertFound(string head)
        {
            string source = $$"""
                {{head}}
                public interface IX { {{_contract}} }
                public partial class X : Immortal<IXProxy>, IX
                {
                    private readonly IOtherProxy other; internal int Count; internal Dictionary<int, int> Map = []; internal List<string> Names = [];
                    internal Part Part = new();
                }
                {{_code}}
                """;
            Generation generation = Generation.Of(source);
            Diagnostic[] found = Analysis.Of(generation);
            string[] lines = generation.Input.SyntaxTrees[0].ToString().Split('\n');
            string Where(int line) => lines[line].Split("// planted ") is [_, var number] ? number.TrimEnd('.', '\r') : $"line {line}: {lines[line]}";
            ILookup<string, string> ids = found.Select(each => (Where: Where(each.Location.GetLineSpan().StartLinePosition.Line), each.Id))
                .Distinct().ToLookup(static each => each.Where, static each => each.Id);

            string[] missed = [.. _planted.Index().Where(each => !ids[$"{each.Index}"].SequenceEqual([each.Item.Id]))
                .Select(each => $"{each.Item.Id} {each.Item.Name} -> {string.Join(", ", ids[$"{each.Index}"])}")];
            string[] alarms = [.. ids.Select(static each => each.Key).Where(static each => each.StartsWith("line", StringComparison.Ordinal))];
            Assert.True(missed.Length + alarms.Length == 0, string.Join('\n', missed.Concat(alarms)));
            Assert.All(found, static each => Assert.Equal(DiagnosticSeverity.Error, each.Severity));
        }
    }
}
