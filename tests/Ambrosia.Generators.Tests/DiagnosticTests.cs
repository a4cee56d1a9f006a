using Ambrosia.Generators.Diagnostics;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests;

/// <summary>Each rule is reported once, where the fault is. The <c>«»</c> in a source mark that place.</summary>
public sealed class DiagnosticTests
{
    public static TheoryData<string, string, string> Faults => new()
    {
        { "AMB001", "X must be declared partial", "public interface IX { } public class «X» : Immortal<IXProxy>, IX { }" },
        { "AMB001", "X must be declared partial",
            "public interface IX { } public class Outer { public partial class «X» : Immortal<IXProxy>, IX { } }" },
        { "AMB002", "implements no interface IX", "public partial class «X» : Immortal<IXProxy> { }" },
        { "AMB003", "several methods named Go", "[Contract] public interface IX { void Go(); void «Go»(int a); }" },
        { "AMB004", "IX.Go is generic", "[Contract] public interface IX { void «Go»<T>(); }" },
        { "AMB004", "IX is generic", "[Contract] public interface «IX»<T> { void Go(); }" },
        { "AMB005", "Parameter a of IX.Go is ref, out or in", "[Contract] public interface IX { void Go(ref int «a»); }" },
        { "AMB005", "Parameter a of IX.Go is ref, out or in", "[Contract] public interface IX { void Go(in int «a»); }" },
        { "AMB006", "Parameter a of IX.Go is a System.IO.Stream", "[Contract] public interface IX { void Go(System.IO.Stream «a»); }" },
        { "AMB006", "Parameter a of IX.Go is a object", "[Contract] public interface IX { void Go(object «a»); }" },
        { "AMB006", "Stack<int>", "[Contract] public interface IX { void Go(List<Stack<int>> «a»); }" },
        { "AMB006", "int[*,*]", "[Contract] public interface IX { void Go(int[,] «a»); }" },
        { "AMB006", "Parameter a of IX.Go is a System.Half", "[Contract] public interface IX { void Go(Half «a»); }" },
        { "AMB006", "Parameter a of IX.Go is a System.Int128", "[Contract] public interface IX { void Go(Int128? «a»); }" },
        { "AMB006", "System.Collections.Concurrent.ConcurrentQueue<int>",
            "[Contract] public interface IX { void Go(System.Collections.Concurrent.ConcurrentQueue<int> «a»); }" },
        { "AMB006", "ImmutableHashSet<(int, int)>", // its order is that of hash codes, and tuples have no other here
            "[Contract] public interface IX { void Go(System.Collections.Immutable.ImmutableHashSet<(int, int)> «a»); }" },
        { "AMB006", "SortedSet<(string, int)>", // tuples compare texts as the culture of the process does
            "[Contract] public interface IX { void Go(SortedSet<(string, int)> «a»); }" },
        { "AMB006", "SortedDictionary<(int, (string, bool))?, int>",
            "[Contract] public interface IX { void Go(SortedDictionary<(int, (string, bool))?, int> «a»); }" },
        { "AMB007", "IX.Go returns a (int, System.Half)", "[Contract] public interface IX { Call<(int, Half)> «Go»(); }" },
        { "AMB007", "IX.Go returns a System.Type", "[Contract] public interface IX { Type «Go»(); }" },
        { "AMB007", "IX.Go returns a System.ReadOnlySpan<byte>", "[Contract] public interface IX { ReadOnlySpan<byte> «Go»(); }" },
        { "AMB008", "IX.Go returns Task<int>", "[Contract] public interface IX { Task<int> «Go»(); }" },
        { "AMB008", "IX.Go returns ValueTask", "[Contract] public interface IX { ValueTask «Go»(); }" },
        { "AMB008", "X.Go returns async void",
            "public interface IX { void Go(); } public partial class X : Immortal<IXProxy>, IX { public async void «Go»() => await Task.Yield(); }" },
        { "AMB009", "IX.Size is a property", "[Contract] public interface IX { int «Size» { get; } }" },
        { "AMB009", "IX.Done is a event", "[Contract] public interface IX { event Action «Done»; }" },
        { "AMB009", "IX.Go is a static method", "[Contract] public interface IX { static void «Go»() { } }" },
        { "AMB010", "IX.Stop has the id 0x7, which Go has",
            "[Contract] public interface IX { [MethodId(7)] void Go(); [MethodId(7)] void «Stop»(); }" },
        { "AMB010", "which is out of range", "[Contract] public interface IX { [MethodId(0)] void «Go»(); }" },
        { "AMB010", "IX.Go has the id 0x7FFFFF00, which is reserved for bindings",
            "[Contract] public interface IX { [MethodId(0x7FFFFF00)] void «Go»(); [MethodId(0x7FFFFEFF)] void Stop(); }" },
        { "AMB010", "IX.Go has the id 0x7FFFFFFF, which is reserved for bindings",
            "[Contract] public interface IX { [MethodId(int.MaxValue)] void «Go»(); }" },
        { "AMB011", "IX.Go is an impulse handler and returns a value", "[Contract] public interface IX { [ImpulseHandler] int «Go»(); }" },
        { "AMB012", "IX is nested in Outer", "public partial class Outer { [Contract] public interface «IX» { } }" },
        { "AMB013", "X is generic", "public interface IX { } public partial class «X»<T> : Immortal<IXProxy>, IX { }" },
        { "AMB013", "X has no constructor without parameters",
            "public interface IX { } public partial class «X»(int a) : Immortal<IXProxy>, IX { public int A => a; }" },
        { "AMB014", "its member Bad is a System.Type", "[Data] public class X { public Type? «Bad» { get; set; } }" },
        { "AMB014", "its member Bad is a System.UInt128[]", "[Data] public sealed record X(int Good, UInt128[] «Bad»);" },
        { "AMB014", "its member Bad is a System.Half",
            "public class B { public Half «Bad» { get; set; } } [Data] public class X : B { public int Good { get; init; } }" },
        { "AMB014", "its member Bad is a System.Type",
            "[Data] public class X { public Type? «Bad» { get; set; } } [Contract] public interface IX { void A(X x); X B(List<X> x); }" },
        { "AMB006", "is a System.Collections.Generic.List<Demo.Line>, which cannot travel because of Demo.Line: use",
            "namespace Demo { public sealed record Line(int A); [Contract] public interface IX { void A(List<Line> «x»); } }" },
        { "AMB007", "which cannot travel because of System.Action: use",
            "[Contract] public interface IX { Dictionary<int, Action[]> «A»(); }" },
        { "AMB014", "is abstract", "[Data] public abstract class «X» { }" },
        { "AMB014", "its member Bad is a System.Type", "[Data] public record X<T>(T Good, Type «Bad»);" },
        { "AMB014", "X is marked [Data] but stands in a generic type: move it out", "public class Y<T> { [Data] public record «X»(T A); }" },
        { "AMB014", "cannot travel: X is made of itself with other type arguments, without an end",
            "[Data] public record X<T>(T Good, X<List<T>>? «Bad»);" },
        { "AMB014", "its member Bad is a Page<System.Action>, which cannot travel: Page<Action> is given System.Action, which cannot travel",
            "[Data] public record Page<T>(T[] Items); [Data] public sealed record X(Page<Action> «Bad»);" },
        { "AMB020", "Page<Action> is given System.Action, which cannot travel: give it type arguments that travel",
            "[Data] public record Page<T>(T[] Items); [Contract] public interface IX { void Go(List<Page<Action>?> «a»); }" },
        { "AMB020", "Page<List<Stack<int>>> is given System.Collections.Generic.List<System.Collections.Generic.Stack<int>>",
            "[Data] public record Page<T>(T[] Items); [Contract] public interface IX { Call<Page<List<Stack<int>>>> «Go»(); }" },
        { "AMB020", "Bag<(int, int)>: its member Items is a", // hash codes would order them
            "[Data] public record Bag<T>(System.Collections.Immutable.ImmutableHashSet<T> Items); [Contract] public interface IX { void Go(Bag<(int, int)> «a»); }" },
        { "AMB020", "Page<Type> is given System.Type",
            "[Data] public record Page<T>(T[] Items); [Contract] public interface IX { void Go(Page<Page<Type>>[] «a»); }" },
        { "AMB018", "IResult<int> is generic: write one union for each use",
            "[Case(1, typeof(Ok))] public interface IResult<T> { } [Data] public record Ok(int A) : IResult<int>; [Contract] public interface IX { void Go(IResult<int> «a»); }" },
        { "AMB014", "no public constructor", "[Data] public class «X» { private X() { } public int A { get; } }" },
        { "AMB019", "IX throws String, but it does not derive from Exception", "[Contract, Throws(typeof(string))] public interface «IX» { }" },
        { "AMB019", "Go throws E, but its At would be lost",
            "public class E(string message) : Exception(message) { public int At { get; set; } } [Contract] public interface IX { [Throws(typeof(E))] void «Go»(); }" },
        { "AMB019", "IX throws E, but it has no public constructor whose parameter is called message",
            "public class E(string article) : Exception(article) { } [Contract, Throws(typeof(E))] public interface «IX» { void Go(); }" },
        { "AMB019", "IX throws E, but it is abstract",
            "public abstract class E(string message) : Exception(message) { } [Contract, Throws(typeof(E))] public interface «IX» { void Go(); }" },
        { "AMB016", "IX.Go is a query and returns nothing", "[Contract] public interface IX { [Query] void «Go»(); }" },
        { "AMB016", "IX.Go is a query and returns Call<int>, which may wait",
            "[Contract] public interface IX { [Query] Call<int> «Go»(); }" },
        { "AMB016", "IX.Go is a query and returns Call, which may wait", "[Contract] public interface IX { [Query] Call «Go»(); }" },
        { "AMB017", "The type beside IX takes the name IXProxy", "[Contract] public interface IX { void Go(); } public class «IXProxy» { }" },
        { "AMB017", "A parameter of IX.Go takes the name __message", "[Contract] public interface IX { void Go(int «__message»); }" },
        { "AMB018", "IPay has the case Card, which is not marked [Data]",
            "[Case(1, typeof(Card))] public interface IPay { } public class Card : IPay { } [Contract] public interface IX { void Go(List<IPay?> «a»); }" },
        { "AMB018", "IPay gives the number 1 to several cases",
            "[Case(1, typeof(A))] [Case(1, typeof(B))] public interface IPay { } [Data] public class A : IPay { } [Data] public class B : IPay { } [Contract] public interface IX { void Go(IPay[] «a»); }" },
        { "AMB018", "Pay numbers its case A as -1",
            "[Case(-1, typeof(A))] public abstract class Pay { } [Data] public class A : Pay { } [Contract] public interface IX { Call<Pay> «Go»(); }" },
        { "AMB018", "IPay has the case A, which does not derive from it",
            "[Case(1, typeof(A))] public interface IPay { } [Data] public class A { } [Contract] public interface IX { IPay «Go»(); }" },
        { "AMB018", "IPay has a case 1 that is no class or struct, or is generic",
            "[Case(1, typeof(A<int>))] public interface IPay { } public class A<T> : IPay { } [Contract] public interface IX { void Go(Dictionary<string, IPay> «a»); }" },
        { "AMB014", "which cannot travel: IPay has the case A, which is not marked [Data]",
            "[Case(1, typeof(A))] public interface IPay { } public class A : IPay { } [Data] public sealed record X(IPay «Bad»);" },
        { "AMB014", "two members of number 1", "[Data] public class «X» { [Field(1)] public int A; [Field(1)] public int B; }" },
    };

    [Theory]
    [MemberData(nameof(Faults))]
    public void Fault_IsReported_WhereItIs(string id, string message, string source)
    {
        Generation generation = Generation.Of(source.Replace("«", "", StringComparison.Ordinal).Replace("»", "", StringComparison.Ordinal));

        Diagnostic diagnostic = Assert.Single(generation.Diagnostics);
        Assert.Equal(id, diagnostic.Id);
        Assert.Equal(DiagnosticSeverity.Error, diagnostic.Severity);
        Assert.Contains(message, diagnostic.GetMessage(), StringComparison.Ordinal);
        string marked = source[(source.IndexOf('«') + 1)..source.IndexOf('»')];
        string text = generation.Input.SyntaxTrees[0].ToString();
        Assert.Equal(marked, text.Substring(diagnostic.Location.SourceSpan.Start, diagnostic.Location.SourceSpan.Length));
        Assert.Equal("Demo.cs", diagnostic.Location.GetLineSpan().Path);
        Assert.Empty(generation.ErrorsInGeneratedCode());
    }

    [Theory]
    [InlineData("IFarProxy")]
    [InlineData("IFar")]
    public void Proxy_MissingInTheContractsAssembly_IsReported(string named)
    {
        Generation contracts = Generation.OfAssembly("Contracts", "public interface IFar { void Go(); }");
        Generation app = Generation.OfAssembly("App", $"public partial class Far : Immortal<{named}>, IFar {{ public void Go() {{ }} }}",
            contracts.AsReference());

        Diagnostic diagnostic = Assert.Single(app.Diagnostics);
        Assert.Equal("AMB015", diagnostic.Id);
        Assert.Contains("mark the interface [Contract] there", diagnostic.GetMessage(), StringComparison.Ordinal);
    }

    [Fact]
    public void Rules_AllHaveATest()
    {
        string[] tested = [.. Faults.Select(row => (string)((object[])row)[0])
            .Concat(["AMB015", "AMB021"]).Distinct().Order(StringComparer.Ordinal)];
        Assert.Equal(DiagnosticRules.ById.Keys.Order(StringComparer.Ordinal), tested);
    }
}
