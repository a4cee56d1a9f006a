using Ambrosia.Generators.Determinism;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>Each row is a mistake that somebody makes in a handler. The <c>«»</c> mark where it is reported.</summary>
public sealed class RuleTests
{
    private const string Head = """
        #pragma warning disable CS0649, CS0169, CS0168, CS0219, CS1998, CS4014, CS8618, CS8602, CA2014, CS0414, CS8321
        namespace Demo;
        using System.Linq; using System.Threading; using System.Globalization; using System.Collections.Concurrent; using System.Collections.Immutable;
        public interface IX { void Go(); Call Later(); [ImpulseHandler] void Said(string a); [Query] int Ask(string a); }
        public class Part { public int Views; public void Touch() => Views++; public int Look() => Views;
            private readonly List<string> _all = []; private readonly Part? _next; private readonly Dictionary<string, Part> _byName = [];
            public List<string> Copy() => [.. _all]; public List<string> All() => _all; public List<string> Copies => new(_all); public List<string> Same => _all;
            public List<string> Sorted() { var all = _all.ToList(); all.Sort(StringComparer.Ordinal); return all; }
            public List<string> Own() { List<string> all = _all; if (Views > 1) return all; return []; } public List<string> Copied() => Copy();
            public List<string> Handed() => All();
            public Part With(int views) => new Part { Views = views };
            public Part Find(string name) { foreach (var each in _byName) if (each.Key == name) return each.Value; return new(); }
            public IEnumerable<Part> Each() { foreach (var each in _byName) yield return each.Value; } public Part Clone() => (Part)MemberwiseClone();
            public List<string> Mapped() => _all.Select(each => { return each + "a"; }).ToList(); public Part Chosen(int a) => a switch { 1 => this, _ => new() };
            public virtual List<string> Open() => [.. _all]; public List<string> Given(List<string> to) { to.AddRange(_all); return to; }
            public Part? Round(int a) => a == 0 ? new() : Round(a - 1);
            public Part Circle(int a) => a == 0 ? this : Circle(a - 1); }
        public struct Pair { public int A; public Part Part; public Inner Inner; } public struct Inner { public int A; public Part Part; }
        public sealed class OtherPart : Part { private readonly List<string> _mine = []; public override List<string> Open() => _mine; }
        public partial class X : Immortal<IXProxy>, IX
        {
            private Dictionary<string, int> _map = []; private readonly List<string> _names = []; private int _count; private Part _part = new(); private Pair _pair;
            private readonly IXProxy _other; [NotState] private int _cache; private double _ratio; private readonly long _limit = 5;
            static int s_count; static readonly List<int> s_list = []; static readonly int[] s_fixed = [1,
                2]; [ThreadStatic] static int s_own;
        """;

    public static TheoryData<string, string> Mistakes => new()
    {
        { "AMB101", "_ = «DateTime.Now»;" }, { "AMB101", "_ = «DateTimeOffset.UtcNow».Ticks;" }, { "AMB101",
            "_ = «Environment.TickCount64»;" },
        { "AMB101", "var w = «System.Diagnostics.Stopwatch.StartNew»();" }, { "AMB101", "_ = «TimeProvider.System».GetUtcNow();" },
        { "AMB101", "_ = «TimeZoneInfo.Local».Id;" }, { "AMB101", "_ = «Now.LocalDateTime»;" },
        { "AMB102", "_ = «new Random()».Next();" }, { "AMB102", "_ = «Random.Shared».Next();" },
        { "AMB102", "_ = «System.Security.Cryptography.RandomNumberGenerator.GetInt32»(5);" },
        { "AMB103", "_ = «Guid.NewGuid»();" }, { "AMB103", "_ = «Guid.CreateVersion7»();" },
        { "AMB104", "«Task.Run»(() => { });" }, { "AMB104", "var t = «new Thread(() => { })»; «t.Start»();" }, { "AMB104",
            "«lock» (_map) { }" },
        { "AMB104", "«Parallel.For»(0, 3, _ => { });" }, { "AMB104", "_ = «new Timer(_ => { })»;" }, { "AMB104", "«Thread.Sleep»(1);" },
        { "AMB104", "«ThreadPool.QueueUserWorkItem»(_ => { });" }, { "AMB104", "«Monitor.Enter»(_map);" },
        { "AMB104", "_ = «_names.AsParallel»().Count();" }, { "AMB104", "_ = «Task.Delay»(5);" }, { "AMB104",
            "_ = «new SemaphoreSlim(1)»;" },
        { "AMB105", "_ = Wait(); async Task Wait() => «await Task.FromResult(1)»;" }, { "AMB105", "Wait(); async void «Wait»() { }" },
        { "AMB105", "_ = Wait(); async Call Wait() { await foreach (int a in «Numbers()») { } } async IAsyncEnumerable<int> «Numbers»() { yield return 1; }" },
        { "AMB105", "_ = Wait(); async ValueTask Wait() => «await new ValueTask()»;" },
        { "AMB106", "_ = «System.IO.File.ReadAllText»(\"a\");" }, { "AMB106", "_ = «Environment.MachineName»;" }, { "AMB106",
            "_ = «Console.ReadLine»();" },
        { "AMB106", "_ = «Environment.GetEnvironmentVariable»(\"a\");" }, { "AMB106", "_ = «new System.Net.Http.HttpClient()»;" },
        { "AMB106", "_ = «System.Diagnostics.Process.GetCurrentProcess»();" }, { "AMB106",
            "try { } catch (Exception e) { _names.Add(«e.StackTrace»!); }" },
        { "AMB106", "_ = «System.Net.Dns.GetHostName»();" }, { "AMB106", "_ = «Environment.ProcessorCount»;" },
        { "AMB107", "«s_count»++;" }, { "AMB107", "«s_list».Add(1);" }, { "AMB107", "«s_fixed»[0] = 3;" }, { "AMB107",
            "_count = «s_count»;" },
        { "AMB108", "«s_own» = 1;" }, { "AMB108", "_ = «new AsyncLocal<int>()»;" }, { "AMB108", "dynamic d = _count; «d.ToString()»;" },
        { "AMB109", "foreach (var a in «new ConcurrentDictionary<int, int>()») _names.Add(\"a\");" },
        { "AMB109", "ImmutableHashSet<string> set = []; _names.AddRange(«set».Select(a => a));" },
        { "AMB109", "ImmutableDictionary<string, int> m = ImmutableDictionary<string, int>.Empty; foreach (string k in «m».Keys) _names.Add(k);" },
        { "AMB110", "_ = «\"a\".GetHashCode»();" }, { "AMB110", "_ = «HashCode.Combine»(1, 2);" }, { "AMB110",
            "_ = «_part.GetHashCode»();" },
        { "AMB111", "_ = «_ratio.ToString»();" }, { "AMB111", "_ = «double.Parse»(\"1\");" }, { "AMB111", "_ = «DateTime.Parse»(\"a\");" },
        { "AMB111", "string a = $\"{«_ratio»}\";".Replace("{«_ratio»}", "«{_ratio}»") }, { "AMB111", "string a = \"a\" + «_ratio»;" },
            { "AMB111", "_ = «\"a\".ToUpper»();" },
        { "AMB111", "_ = «\"a\".CompareTo»(\"b\");" }, { "AMB111", "_ = «\"a\".StartsWith»(\"b\");" }, { "AMB111", "«_names.Sort»();" },
        { "AMB111", "_ = «_names.OrderBy»(a => a);" }, { "AMB111", "_ = «new SortedDictionary<string, int>()»;" }, { "AMB111",
            "_ = «_count.ToString»(\"N0\");" },
        { "AMB111", "_ = «CultureInfo.CurrentCulture».Name;" },
        { "AMB112", "«GC.Collect»();" }, { "AMB112", "_ = «new WeakReference(_map)»;" },
        { "AMB113", "IServiceProvider p = null!; _ = «p.GetService»(typeof(int));" },
        { "AMB114", "«Chance»(); [NonDeterministic(\"it draws lots\")] void Chance() { }" },
        { "AMB121", "«_other.GoAsync()»;" }, { "AMB121", "«thisProxy.LaterAsync()»;" },
        { "AMB123", "«_other.SaidLogged»(\"a\");" },
        { "AMB124", "NondetTask(() => «_count»++);" }, { "AMB124", "NondetTask(() => { «_names».Count.ToString(); });" },
        { "AMB124", "NondetTask(Body); void Body() => «_map»[\"a\"] = 1;" }, { "AMB124", "NondetTask(() => { _ = «Now»; });" },
        { "AMB124", "NondetTask(() => { _ = «Delay»(TimeSpan.Zero); });" },
    };

    private static readonly string[] s_deterministic =
    [
        "_ = Now.UtcDateTime.Date.AddDays(1);", "_ = Random.Next(5);", "_ = NewGuid();", "_ = new Random(5).Next();",
        "foreach (var (a, b) in _map) _names.Add(a);", "foreach (string a in new HashSet<string>(_names)) _names.Add(a);",
        "_ = _count.ToString();", "_ = int.Parse(\"5\");", "string a = $\"{_count} {_names[0]}\";",
            "_ = _ratio.ToString(CultureInfo.InvariantCulture);",
        "string a = string.Create(CultureInfo.InvariantCulture, $\"{_ratio}\");", "Logger.Information($\"{_ratio}\");",
            "Console.WriteLine($\"{_ratio}\");",
        "_names.Sort(StringComparer.Ordinal);", "_ = _names.OrderBy(a => a, StringComparer.Ordinal);", "_ = _names.OrderBy(a => a.Length);",
        "_ = new SortedDictionary<string, int>(StringComparer.Ordinal);", "_ = \"a\".StartsWith('b');", "_ = \"a\".ToUpperInvariant();",
        "_ = string.CompareOrdinal(\"a\", \"b\");", "_ = s_fixed[0] + s_list.Count;", "_ = 5.GetHashCode();", "_ = Now.ToString(\"O\");",
        "_other.GoFork();", "_other.SaidFork(\"a\");", "_part.Touch();",
            "long limit = _limit; NondetTask(() => { Console.Write(limit); });",
        "NondetTask(() => { Console.Write(_limit); });", "NondetTask(() => { _other.SaidFork(\"a\"); });",
            "NondetTask(() => { thisProxy.SaidFork(\"a\"); });",
        "NondetTask(() => { Logger.Information(InstanceName); });", "NondetTask(async () => { await Task.Delay(5); });",
        "NondetTask(() => 1, new NondetOptions { Attempts = 3, Retry = e => e is TimeoutException && DateTime.UtcNow.Ticks > 5 });",
        "NondetTask(() => { Action later = () => Console.Write(DateTime.UtcNow.Ticks); later(); });",
        "_ = new ConcurrentDictionary<int, int>().OrderBy(a => a.Key).ToList();",
            "_ = new ConcurrentDictionary<int, int>().Where(a => a.Key > 1).Count();",
        "_ = System.IO.Path.Combine(\"a\", \"b\");", "using var stream = new System.IO.MemoryStream(); stream.WriteByte(1);",
        "_ = System.Security.Cryptography.SHA256.HashData([1]);", "_ = System.Text.Json.JsonSerializer.Serialize(5);",
            "_ = string.Join(',', _names);",
        "_ = 5.CompareTo(6);", "_ = _names.Max(a => a.Length);", "_ = Enum.Parse<DayOfWeek>(\"Monday\");", "_ = Math.Sqrt(_ratio);",
        "throw new InvalidOperationException($\"{_count} is not enough\");", "_ = DateTime.UnixEpoch.AddSeconds(5);",
            "_ = Environment.NewLine;",
        "_ = DateTime.ParseExact(\"a\", \"yyyy-MM-dd 'z'\", CultureInfo.InvariantCulture);",
        "_ = DateTime.Parse(\"a\", CultureInfo.InvariantCulture, DateTimeStyles.AdjustToUniversal);",
        "_ = DateTimeOffset.Parse(\"a\", CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);",
        "_ = DateTimeOffset.ParseExact(\"a\", \"yyyy-MM-dd zzz\", CultureInfo.InvariantCulture);",
        "_ = new DateTimeOffset(Now.UtcDateTime.Date.AddDays(1)); DateTime at = new(2026, 7, 1, 0, 0, 0, DateTimeKind.Utc); DateTimeOffset same = at;",
        "_ = new DateTimeOffset(new DateTime(2026, 7, 1), TimeSpan.Zero); _ = TimeZoneInfo.ConvertTime(Now, TimeZoneInfo.Utc);",
        "_ = DateTime.UnixEpoch.ToString(\"yyyy 'z'\", CultureInfo.InvariantCulture); _ = Now.ToString(\"HH zzz\", CultureInfo.InvariantCulture);",
        "_ = System.Text.Json.JsonSerializer.Deserialize<List<string>>(\"a\"); _ = DateTime.FromFileTimeUtc(5);",
        "_ = Guid.Empty.GetHashCode(); _ = DayOfWeek.Monday.GetHashCode(); _ = Now.GetHashCode(); int? none = 5; _ = none.GetHashCode();",
        "_ = _names.Max(StringComparer.Ordinal); _ = _names.MinBy(a => a, StringComparer.Ordinal); _ = new[] { 1 }.Max();",
        "_ = new System.Text.RegularExpressions.Regex(\"a\", System.Text.RegularExpressions.RegexOptions.IgnoreCase | System.Text.RegularExpressions.RegexOptions.CultureInvariant);",
        "_ = System.Text.RegularExpressions.Regex.IsMatch(\"a\", \"^(?:a)\"); _ = char.ToUpperInvariant('i');",
        "_ = ImmutableSortedSet<string>.Empty.WithComparer(StringComparer.Ordinal); _ = ImmutableSortedSet.Create(StringComparer.Ordinal, \"a\");",
        "_ = new System.Text.StringBuilder().Append(_count).Append(\"a\").Append(CultureInfo.InvariantCulture, $\"{_ratio}\");",
        "Exception failure = new InvalidOperationException(); Logger.Warning(failure.ToString()); Console.WriteLine($\"{failure}\"); _ = failure.Message;",
        "_ = ImmutableHashSet.Create(1).ToImmutableHashSet(); _ = ImmutableHashSet.Create(1).Where(a => a > 1).ToImmutableSortedSet();",
        "_ = new HashSet<int>().SetEquals(ImmutableHashSet.Create(1)); _ = _names.Except(ImmutableHashSet.Create(\"a\")).Count();",
        "_ = new SortedSet<int>(ImmutableHashSet.Create(1)); Console.WriteLine(string.Join(',', ImmutableHashSet.Create(1)));",
        "_ = ImmutableHashSet.Create(1).Sum() + new ConcurrentDictionary<int, int>().Keys.Count; _ = typeof(int).GetProperties().OrderBy(a => a.Name, StringComparer.Ordinal);",
        "_cache++; Logger.Information($\"{_cache}\"); if (_cache > 100) _names.Clear();",
        "_ = Guid.Parse(\"a\");", "_ = TimeSpan.FromHours(1).ToString();", "_ = new CancellationToken().IsCancellationRequested;",
    ];

    public static TheoryData<string> Writes =>
    [
        "«_count»++;", "«_map»[a] = 5;", "«_names.Add»(a);", "«_part.Views» = 1;", "Part p = _part; «p.Views»++;", "«_other.GoFork»();",
        "_ = «Delay»(TimeSpan.Zero);", "«_map.Remove»(a);", "if (_map.Count > 1) { «_part.Views» += 2; }",
        "var all = _part.All(); «all.Add»(a);", "«_part.Same.Add»(a);", "«_part.Own().Add»(a);", "«_part.Handed().Add»(a);", "«_part.Find(a).Views»++;",
        "«_part.Open().Add»(a);",
        "foreach (Part each in _part.Each()) «each.Views»++;", "Pair pair = _pair; «pair.Part.Views»++;",
        "Pair pair = _pair; Inner inner = pair.Inner; «inner.Part.Views»++;", "«_pair.A»++;", "«_part.Chosen(1).Views»++;", "«_part.Circle(3).Views»++;",
        "«_part.Find(a).All().Add»(a);",
        "«(a.Length > 1 ? _part.All() : []).Add»(a);",
            "Change(); void Change() => «_count» = 3;",
        "_part?.Same?«.Add»(a);", "_part?.Find(a)?.All()?«.Add»(a);",
    ];

    public static TheoryData<string> Reads =>
    [
        "_ = _count;", "_ = Now;", "_cache++;", "var list = new List<string>(_names); list.Add(a);", "_ = _part.Look();",
            "var p = new Part(); p.Touch();",
        "_ = _names.Where(b => b == a).ToList();", "_map.TryGetValue(a, out int b);", "_ = DateTime.UtcNow;",
        "var copy = _part.Copy(); copy.Sort(StringComparer.Ordinal); copy.Add(a);", "_part.Copies.Add(a);", "_part.Sorted().Add(a);", "_part.Copied().Add(a);",
        "var other = _part.With(3); other.Views++; other.Touch();", "_part.Clone().Touch();", "_part.Mapped().Clear();",
        "_part.Given([]).Add(a);", "_part.Round(3)!.Touch();",
        "_part.With(1).With(2).Touch();", "Own().Touch(); Part Own() => new();", "Pair pair = _pair; pair.A = 5; pair.Inner.A++;",
        "Mine().Add(a); List<string> Mine() => [.. _names];", "_ = _part?.Same?.Count + (_part?.Find(a)?.All()?.Count ?? 0);",
        "_part?.With(3)?.Same?.Add(a);",
    ];

    [Theory]
    [MemberData(nameof(Mistakes))]
    public void Mistake_InAHandler_IsReportedWhereItIs(string id, string statement) =>
        AssertMarked(id, statement, marked => $"{Head} public void Go() {{ {marked} }} {Rest}");

    [Fact]
    public void Statements_ThatAreDeterministic_AreNotReported() =>
        Assert.Empty(Analysis.Of($"{Head} public void Go() {{ {string.Concat(s_deterministic.Select(Conditional))} }} {Rest}"));

    [Theory]
    [MemberData(nameof(Writes))]
    public void Query_ThatChangesOrSends_IsReported(string statement) =>
        AssertMarked("AMB125", statement, marked => $"{Head} public int Ask(string a) {{ {marked} return 1; }} {RestOfQuery}");

    [Theory]
    [MemberData(nameof(Reads))]
    public void Query_ThatReads_IsNotReported(string statement) =>
        Assert.Empty(Analysis.Of($"{Head} public int Ask(string a) {{ {statement} return 1; }} {RestOfQuery}"));

    [Theory]
    [InlineData("AMB126", "foreach (var a in «_map») await Delay(TimeSpan.Zero);")]
    [InlineData("AMB126", "foreach (int a in «new SortedSet<int>()») await Delay(TimeSpan.Zero);")]
    [InlineData("AMB126", "foreach (string a in «_names.Where(b => b.Length > 1)») await Delay(TimeSpan.Zero);")]
    [InlineData("AMB105", "«await Task.FromResult(1)»;")]
    [InlineData("AMB104", "await «Task.Delay»(5);")]
    [InlineData("AMB122", "Call one = _other.GoAsync(); await one; await «one»;")]
    [InlineData("AMB122", "Call one = _other.GoAsync(); while (_count < 5) await «one»;")]
    public void Mistake_AroundAnAwait_IsReportedWhereItIs(string id, string statement) =>
        AssertMarked(id, statement, marked => $"{Head} public async Call Later() {{ {marked} }} {RestOfLater}");

    [Theory]
    [InlineData("foreach (string a in _names) await Delay(TimeSpan.Zero);")]
    [InlineData("foreach (string a in _names.ToArray()) await Delay(TimeSpan.Zero);")]
    [InlineData("Call one = _other.GoAsync(), two = _other.GoAsync(); await two; await one;")]
    [InlineData("Call one = _other.GoAsync(); if (_count > 1) await one; else await one.Within(TimeSpan.Zero);")]
    [InlineData("for (int i = 0; i < 3; i++) { Call one = _other.GoAsync(); await one; }")]
    [InlineData("Call one = _other.GoAsync(); await one; one = _other.GoAsync(); await one;")]
    [InlineData("await Call.WhenAll(_other.GoAsync(), _other.GoAsync());")]
    public void Await_AsItShouldBe_IsNotReported(string statement) =>
        Assert.Empty(Analysis.Of($"{Head} public async Call Later() {{ {statement} }} {RestOfLater}"));

    /// <summary>What runs beside the handlers sends impulses; it neither reads nor writes the state.</summary>
    [Theory]
    [InlineData("«_count» = 5; return Task.CompletedTask;")]
    [InlineData("return Task.Run(() => «_count»++);")]
    [InlineData("Told(); return Task.CompletedTask; void Told() => _ = «Now»;")]
    [InlineData("thisProxy.SaidFork(\"a\"); Logger.Information(InstanceName); return Task.Delay(5, ended);")]
    public void WhilePrimary_ThatTouchesTheState_IsReported(string statement) => AssertMarked("AMB124", statement,
        marked => $"{Head} protected override Task WhilePrimary(CancellationToken ended) {{ {marked} }} public void Go() {{ }} {Rest}");

    /// <summary>An app that knows no cultures has none to depend on.</summary>
    [Fact]
    public void Culture_OfAnInvariantApp_IsNotReported() =>
        Assert.Empty(Analysis.Of(Generation.Of($"{Head} public void Go() {{ _ = _ratio.ToString(); _names.Sort(); }} {Rest}"),
            isInvariant: true));

    [Fact]
    public void Framework_EachLine_NamesARule() => Assert.All(
        new[] { "DateTime", "DateTimeOffset" }, static name => Assert.NotNull(FrameworkList.Of(
            Generation.Of("").Output.GetTypeByMetadataName($"System.{name}")!.GetMembers("UtcNow").Single())));

    private const string Rest = "public Call Later() => default; public void Said(string a) { } public int Ask(string a) => 1; }",
        RestOfQuery = "public void Go() { } public Call Later() => default; public void Said(string a) { } }",
        RestOfLater = "public void Go() { } public void Said(string a) { } public int Ask(string a) => 1; }";

    private static string Conditional(string statement) => $"if (_count > 1) {{ {statement} }}\n";

    private static void AssertMarked(string id, string statement, Func<string, string> sourceOf)
    {
        string plain = statement.Replace("«", "", StringComparison.Ordinal).Replace("»", "", StringComparison.Ordinal);
        string[] marked = [.. statement.Split('«').Skip(1).Select(static part => part[..part.IndexOf('»')])];

        Diagnostic[] found = Analysis.Of(sourceOf(plain));

        Assert.Equal(marked.Select(text => $"{id} {text}"), Analysis.Marks(found));
    }
}
