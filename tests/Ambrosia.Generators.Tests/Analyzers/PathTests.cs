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
    };

    [Theory]
    [MemberData(nameof(Ways))]
    public void Clock_WhereverAHandlerReachesIt_IsReportedThereWithTheWay(string way, string source)
    {
        Diagnostic found = Assert.Single(Analysis.Of(Head + source));

        Assert.Equal("AMB101", found.Id);
        Assert.Equal(DiagnosticSeverity.Error, found.Severity);
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
