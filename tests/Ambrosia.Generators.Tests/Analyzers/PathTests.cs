using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>A clock is found wherever a handler reaches it, at its own line, and the message tells the way there.</summary>
public sealed class PathTests
{
    private const string Head = """
        #pragma warning disable CS0649, CS0169, CS1998, CS8618
        namespace Demo;
        using System.Linq;
        public interface IX { void Go(); }
        """;

    public static TheoryData<string, string> Ways => new()
    {
        { "X.Go", "public partial class X : Immortal<IXProxy>, IX { public void Go() { _ = DateTime.UtcNow; } }" },
        { "X.Go → A.First → B.Second",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => A.First(); } static class A { public static void First() => B.Second(); } static class B { public static long Second() => DateTime.UtcNow.Ticks; }" },
        { "X.Go → Clock.Read",
            "public partial class X : Immortal<IXProxy>, IX { private readonly IClock _clock = new Clock(); public void Go() => _clock.Read(); } interface IClock { long Read(); } sealed class Clock : IClock { public long Read() => DateTime.UtcNow.Ticks; }" },
        { "X.Go", "public partial class X : Immortal<IXProxy>, IX { public void Go() { Func<long> read = () => DateTime.UtcNow.Ticks; read(); } }" },
        { "X.Go → X.Apply", "public partial class X : Immortal<IXProxy>, IX { public void Go() => Apply(1); private void Apply(int a) => new[] { a }.Select(b => DateTime.UtcNow.Ticks + b).Sum(); }" },
        { "X.Go → Ext.Stamp", "public partial class X : Immortal<IXProxy>, IX { public void Go() => 1.Stamp(); } static class Ext { public static long Stamp(this int a) => a + DateTime.UtcNow.Ticks; }" },
        { "X.Go → X.Age", "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = Age; private long Age => DateTime.UtcNow.Ticks; }" },
        { "X.Go → X.Age", "public partial class X : Immortal<IXProxy>, IX { public void Go() => Age = 1; private long Age { get => 1; set => Console.WriteLine(value + DateTime.UtcNow.Ticks); } }" },
        { "X.Go → Heir.Do → Base.Touch", "public partial class X : Immortal<IXProxy>, IX { public void Go() => new Heir().Do(); } abstract class Base { protected void Touch() => _ = DateTime.UtcNow; } sealed class Heir : Base { public void Do() => Touch(); }" },
        { "X.Go → Round.Draw",
            "public partial class X : Immortal<IXProxy>, IX { private Shape _shape = new Round(); public void Go() => _shape.Draw(); } abstract class Shape { public abstract void Draw(); } sealed class Round : Shape { public override void Draw() => _ = DateTime.UtcNow; }" },
        { "X.Go → Inner", "public partial class X : Immortal<IXProxy>, IX { public void Go() { Inner(); void Inner() => _ = DateTime.UtcNow; } }" },
        { "new X()", "public partial class X : Immortal<IXProxy>, IX { private readonly DateTime _since = DateTime.UtcNow; public void Go() { } }" },
        { "new X() → new Part()", "public partial class X : Immortal<IXProxy>, IX { private readonly Part _part = new(); public void Go() { } } sealed class Part { private readonly DateTime _since = DateTime.UtcNow; }" },
        { "X.OnFirstStart", "public partial class X : Immortal<IXProxy>, IX { protected override void OnFirstStart() => _ = DateTime.UtcNow; public void Go() { } }" },
        { "X.GoOfMay", "public partial class X : Immortal<IXProxy>, IX { public void Go() { } [Formerly(nameof(Go))] private void GoOfMay() => _ = DateTime.UtcNow; }" },
        { "X.Go → X.Tick", "public partial class X : Immortal<IXProxy>, IX { public void Go() => Every(TimeSpan.FromHours(1), Tick); private void Tick() => _ = DateTime.UtcNow; }" },
        { "X.Go → Fixed.Start", "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = Fixed.Start; } static class Fixed { public static readonly DateTime Start = DateTime.UtcNow; }" },
        { "X.Go → Money.op_Addition", "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new Money() + new Money(); } readonly struct Money { public static Money operator +(Money a, Money b) { _ = DateTime.UtcNow; return a; } }" },
        { "X.Go → Items.GetEnumerator", "public partial class X : Immortal<IXProxy>, IX { public void Go() { foreach (int each in new Items()) _ = each; } } sealed class Items { public IEnumerator<int> GetEnumerator() { _ = DateTime.UtcNow; yield return 1; } }" },
        { "X.Go → Closing.Dispose", "public partial class X : Immortal<IXProxy>, IX { public void Go() { using var closing = new Closing(); } } sealed class Closing : IDisposable { public void Dispose() => _ = DateTime.UtcNow; }" },
        { "X.Go → Box.Put", "public partial class X : Immortal<IXProxy>, IX { public void Go() => new Box<int>().Put(1); } sealed class Box<T> { public void Put(T item) => Console.WriteLine($\"{item} {DateTime.UtcNow.Ticks}\"); }" },
        { "X.Go → X.Ask → Utc.Read",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => Ask<Utc>(); private static void Ask<T>() where T : IClock => T.Read(); } interface IClock { static abstract long Read(); } sealed class Utc : IClock { public static long Read() => DateTime.UtcNow.Ticks; }" },
        { "X.Go → X.Ask → Utc.Read",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => Ask(new Utc()); private static void Ask<T>(T clock) where T : IClock => clock.Read(); } interface IClock { long Read(); } readonly struct Utc : IClock { public long Read() => DateTime.UtcNow.Ticks; }" },
        { "X.Go → IClock.Read",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { IClock clock = new Clock(); clock.Read(); } } interface IClock { long Read() => DateTime.UtcNow.Ticks; } sealed class Clock : IClock;" },
        { "X.Go → Clock.Demo.IClock.Read",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { IClock clock = new Clock(); clock.Read(); } } interface IClock { long Read(); } sealed class Clock : IClock { long IClock.Read() => DateTime.UtcNow.Ticks; }" },
        { "X.Go → Clock.Read",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { IClock<long> clock = new Clock(); clock.Read(); } } interface IClock<T> { T Read(); } sealed class Clock : IClock<long> { public long Read() => DateTime.UtcNow.Ticks; }" },
        { "X.Go → Heir.Read",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { Base<long> made = new Heir(); made.Read(); } } abstract class Base<T> { public abstract T Read(); } sealed class Heir : Base<long> { public override long Read() => DateTime.UtcNow.Ticks; }" },
        { "X.Go → Heir.Do → Base.Do",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => new Heir().Do(); } class Base { public virtual void Do() => _ = DateTime.UtcNow; } sealed class Heir : Base { public override void Do() => base.Do(); }" },
        { "X.Go → Money.op_Addition",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { var sum = new Money(); sum += new Money(); } } readonly struct Money { public static Money operator +(Money a, Money b) { _ = DateTime.UtcNow; return a; } }" },
        { "X.Go → Money.op_Increment",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { var sum = new Money(); sum++; } } readonly struct Money { public static Money operator ++(Money a) { _ = DateTime.UtcNow; return a; } }" },
        { "X.Go → Money.op_Implicit",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { long a = new Money(); } } readonly struct Money { public static implicit operator long(Money a) => DateTime.UtcNow.Ticks; }" },
        { "X.Go → Pair.Deconstruct",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { (long a, _) = new Pair(); } } sealed class Pair { public void Deconstruct(out long a, out int b) => (a, b) = (DateTime.UtcNow.Ticks, 1); }" },
        { "X.Go → Pair.Deconstruct",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { foreach (var (a, b) in new Pair[1]) { } } } sealed class Pair { public void Deconstruct(out long a, out int b) => (a, b) = (DateTime.UtcNow.Ticks, 1); }" },
        { "X.Go → Pair.Deconstruct",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { if (new Pair() is (1, _)) { } } } sealed class Pair { public void Deconstruct(out long a, out int b) => (a, b) = (DateTime.UtcNow.Ticks, 1); }" },
        { "X.Go → Part.Age",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { if (new Part() is { Age: > 1 }) { } } } sealed class Part { public long Age => DateTime.UtcNow.Ticks; }" },
        { "X.Go → Part.Age",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new Part { Age = 1 }; } sealed class Part { public long Age { get => 1; set => Console.WriteLine(value + DateTime.UtcNow.Ticks); } }" },
        { "X.Go → Items.this[]",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new Items()[1]; } sealed class Items { public long this[int a] => DateTime.UtcNow.Ticks; }" },
        { "X.Go → Bell.Rung",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => new Bell().Rung += () => { }; } sealed class Bell { public event Action Rung { add => _ = DateTime.UtcNow; remove { } } }" },
        { "X.Go → static A()",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => A.First(); } static class A { static A() => _ = DateTime.UtcNow; public static void First() { } }" },
        { "X.Go → static A()",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new A(); } sealed class A { static A() => _ = DateTime.UtcNow; }" },
        { "X.Go → new Heir()",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new Heir(); } class Base(long at) { public long At => at; } sealed class Heir() : Base(DateTime.UtcNow.Ticks);" },
        { "X.Go → new Part()",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = Make<Part>(); private static T Make<T>() where T : new() => new T(); } sealed class Part { public long At = DateTime.UtcNow.Ticks; }" },
        { "X.Go → Bag.Add",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new Bag { 1 }; } sealed class Bag : System.Collections.IEnumerable { public void Add(int a) => _ = DateTime.UtcNow; public System.Collections.IEnumerator GetEnumerator() => null!; }" },
        { "X.Go → Bag.Add",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { Bag bag = [1]; } } sealed class Bag : IEnumerable<int> { public void Add(int a) => _ = DateTime.UtcNow; public IEnumerator<int> GetEnumerator() => null!; System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => null!; }" },
        { "X.Go → new Shown()",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new Shown(1) with { A = 2 }; } sealed record Shown(int A) { private Shown(Shown from) => A = (int)DateTime.UtcNow.Ticks; }" },
        { "new X()",
            "public partial class X : Immortal<IXProxy>, IX { [NotState] private readonly Func<long> _read = () => DateTime.UtcNow.Ticks; public void Go() => _read(); }" },
        { "X.Go → X.Get",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => Get()(); private static Func<long> Get() => () => DateTime.UtcNow.Ticks; }" },
        { "X.Go → X.Stamp",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = new[] { 1 }.Select(Stamp).Sum(); private static long Stamp(int a) => DateTime.UtcNow.Ticks; }" },
        { "X.Go → X.Told",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => Told(); partial void Told(); partial void Told() => _ = DateTime.UtcNow; }" },
        { "X.Go → X.Age",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = Age; private partial long Age { get; } private partial long Age => DateTime.UtcNow.Ticks; }" },
        { "X.Go",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => _ = (from a in new[] { 1 } select DateTime.UtcNow.Ticks + a).Sum(); }" },
        { "X.Go → Handler.AppendFormatted",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() => Tell($\"a{1}\"); private static void Tell(Handler a) { } } [System.Runtime.CompilerServices.InterpolatedStringHandler] ref struct Handler { public Handler(int a, int b) { } public void AppendLiteral(string a) { } public void AppendFormatted<T>(T a) => _ = DateTime.UtcNow; }" },
        { "X.Go → Part.ToString",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { string text = $\"{new Part()}\"; } } sealed class Part { public override string ToString() => DateTime.UtcNow.Ticks + \"\"; }" },
        { "X.Go → Ext.GetEnumerator",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { foreach (int each in new Items()) { } } } sealed class Items; static class Ext { public static IEnumerator<int> GetEnumerator(this Items a) { _ = DateTime.UtcNow; yield return 1; } }" },
        { "X.Go → Walk.Current",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { foreach (long each in new Items()) { } } } sealed class Items { public Walk GetEnumerator() => new(); } sealed class Walk { public bool MoveNext() => false; public long Current => DateTime.UtcNow.Ticks; }" },
        { "X.Go",
            "public partial class X : Immortal<IXProxy>, IX { public void Go() { Action step = () => _ = DateTime.UtcNow; Run(); void Run() => step(); } }" },
    };

    [Theory]
    [MemberData(nameof(Ways))]
    public void Clock_WhereverAHandlerReachesIt_IsReportedThereWithTheWay(string way, string source)
    {
        Diagnostic found = Assert.Single(Analysis.Of(Head + source), static each => each.Id != "AMB134"); // one way is a [NotState] field

        Assert.Equal("AMB101", found.Id);
        Assert.Equal(DiagnosticSeverity.Error, found.Severity);
        Assert.Equal("DateTime.UtcNow", Analysis.TextAt(found));
        Assert.Contains($"executed by {way}. Use Now", found.GetMessage(), StringComparison.Ordinal);
    }

    /// <summary>What another project declares may be this project's own code when it is called.</summary>
    [Theory]
    [InlineData("X.Go → Clock.Read", "Parts.IClock clock = new Clock(); clock.Read();", "sealed class Clock : Parts.IClock { public long Read() => DateTime.UtcNow.Ticks; }")]
    [InlineData("X.Go → Clock.Read", "Parts.Base clock = new Clock(); clock.Read();", "sealed class Clock : Parts.Base { public override long Read() => DateTime.UtcNow.Ticks; }")]
    [InlineData("X.Go → Clock.Read", "Parts.Open clock = new Clock(); clock.Read();", "sealed class Clock : Parts.Open { public override long Read() => DateTime.UtcNow.Ticks; }")]
    [InlineData("X.Go → Clock.At", "Parts.IAt<long> clock = new Clock(); _ = clock.At;", "sealed class Clock : Parts.IAt<long> { public long At => DateTime.UtcNow.Ticks; }")]
    public void Clock_BehindAMemberOfAnotherProject_IsReported(string way, string body, string rest)
    {
        MetadataReference parts = Generation.OfAssembly("Parts", """
            namespace Parts;
            public interface IClock { long Read(); }
            public abstract class Base { public abstract long Read(); }
            public class Open { public virtual long Read() => 1; }
            public interface IAt<T> { T At { get; } }
            """).AsReference();

        Diagnostic found = Assert.Single(Analysis.Of(
            $"{Head} public partial class X : Immortal<IXProxy>, IX {{ public void Go() {{ {body} }} }} {rest}", parts));

        Assert.Equal("DateTime.UtcNow", Analysis.TextAt(found));
        Assert.Contains($"executed by {way}. Use Now", found.GetMessage(), StringComparison.Ordinal);
    }

    /// <summary>What no handler reaches is nobody's fault, and a clock may be read outside.</summary>
    [Theory]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { public void Go() { } protected override void BecomingPrimary() => Listen(); private void Listen() => _ = DateTime.UtcNow; }")]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { public void Go() { } } static class Elsewhere { public static DateTime Read() => DateTime.UtcNow; }")]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { public void Go() => NondetTask(() => DateTime.UtcNow); }")]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { public void Go() => NondetTask(Read); private static DateTime Read() => DateTime.UtcNow; }")]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { private Shape _shape = new Round(); public void Go() => _shape.Draw(); } abstract class Shape { public abstract void Draw(); } sealed class Round : Shape { public override void Draw() { } } sealed class Other { public void Draw() => _ = DateTime.UtcNow; }")]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { public void Go() { Func<long> read = () => DateTime.UtcNow.Ticks; NondetTask(read); } }")]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { public void Go() { Func<long> read = () => DateTime.UtcNow.Ticks; NondetTask(() => read() + read()); } }")]
    [InlineData("public partial class X : Immortal<IXProxy>, IX { public void Go() => Told(); [Deterministic] private static void Told() => Console.WriteLine(DateTime.UtcNow.Ticks); }")]
    public void Clock_ThatNoHandlerReads_IsNotReported(string source) => Assert.Empty(Analysis.Of(Head + source));

    [Fact]
    public void Clock_ThatTwoHandlersReach_IsReportedOnce()
    {
        Diagnostic found = Assert.Single(Analysis.Of(Head + """
            public partial class X : Immortal<IXProxy>, IX { public void Go() => Clock.Read(); }
            public partial class Y : Immortal<IXProxy>, IX { public void Go() => Clock.Read(); }
            static class Clock { public static DateTime Read() => DateTime.UtcNow; }
            """));

        Assert.Contains("X.Go → Clock.Read", found.GetMessage(), StringComparison.Ordinal);
    }
}
