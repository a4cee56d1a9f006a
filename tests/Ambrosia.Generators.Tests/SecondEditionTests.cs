using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests;

/// <summary>Forms in which immortals and calls may be written: each compiles, with what is generated and without a warning.</summary>
public sealed class SecondEditionTests
{
    private const string Contract = """
        public sealed class SoldOut(string message) : Exception(message);
        [Throws(typeof(SoldOut))]
        public interface IX { void Go(int a); Call<long> Ask(string b); [ImpulseHandler] void Told(string line); [Query] int Count(); }

        """;

    private const string Handlers =
        "public void Go(int a) { } public Call<long> Ask(string b) => Call.FromResult(1L); public void Told(string line) { } public int Count() => 1;";

    private static readonly MetadataReference s_client = MetadataReference.CreateFromFile(typeof(Client.ImmortalClient).Assembly.Location);

    private static readonly string s_outside =
        $"public static class Caller {{ public static async Task<long> Ask(Ambrosia.Client.ClientProxy<IX> x) {{ try {{ return await x.WithKey(\"k\").AskAsync(\"b\"); }} catch (SoldOut) {{ return await x.CountAsync(); }} }} }} public sealed partial class X : Immortal<IX>, IX {{ {Handlers} }}";

    public static TheoryData<string> Forms =>
    [
        // by the contract, by its proxy, and both with everything that a proxy can do
        $"public sealed partial class X : Immortal<IX>, IX {{ {Handlers} }}",
        $"public sealed partial class X : Immortal<IXProxy>, IX {{ {Handlers} }}",
        $"public partial class X : Immortal<IX>, IX {{ {Handlers} internal void Self() {{ thisProxy.GoFork(1); IXProxy self = thisProxy; self.GoFork(2); }} }}",
        $"public partial class X : Immortal<IX>, IX {{ {Handlers} internal Call Self() => thisProxy.WithKey(\"k\").ToldLogged(\"a\"); }}",
        $"public partial class X : Immortal<IX>, IX {{ {Handlers} internal async Call<long> Other() {{ var x = GetProxy<IX>(\"x\"); x.GoFork(1); return await x.AskAsync(\"b\") + await GetProxy<IX>(\"y\").AskAsync(\"c\"); }} }}",
        $"public partial class X : Immortal<IX>, IX {{ private readonly ProxyOf<IX> _x; private readonly IXProxy _y; public X() {{ _x = GetProxy<IX>(\"x\"); _y = GetProxy<IX>(\"y\"); }} {Handlers} internal void Other() {{ _x.GoFork(1); _y.GoFork(2); }} }}",
        // under classes of the app's own
        $"public abstract class Own : Immortal<IX> {{ protected void Both() => thisProxy.GoFork(1); }} public sealed partial class X : Own, IX {{ {Handlers} internal void Self() {{ Both(); thisProxy.GoFork(2); }} }}",
        $"public abstract class Own<T> : Immortal<T> {{ protected List<int> Seen {{ get; }} = []; }} public sealed partial class X : Own<IX>, IX {{ {Handlers} internal void Self() => thisProxy.GoFork(Seen.Count); }}",
        $"public abstract class Own : Immortal<IX>, IX {{ {Handlers} }} public sealed partial class X : Own {{ internal void Self() => thisProxy.GoFork(2); }} public sealed partial class Y : Own {{ }}",
        $"public partial class X : Immortal<IX>, IX {{ {Handlers} }} public sealed partial class Y : X {{ internal void Self() => thisProxy.GoFork(2); }}",
        // callers outside
        s_outside,
    ];

    [Theory]
    [MemberData(nameof(Forms))]
    public void Form_Compiles(string source)
    {
        Generation generation = Generation.Of(Contract + source, s_client);
        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
        Assert.Contains(generation.Files(), static file => file.EndsWith(".Dispatch.g.cs", StringComparison.Ordinal));
    }

    [Fact]
    public void Failures_OfAContract_AreMadeByItsProxyAndItsClient()
    {
        Generation generation = Generation.Of(Contract + s_outside, s_client);
        Assert.Contains("case \"SoldOut\": return new global::SoldOut(message);", generation.Generated("IXProxy.g.cs"),
            StringComparison.Ordinal);
        Assert.Contains("__proxy.With(__Failure)", generation.Generated("IXClientCalls.g.cs"), StringComparison.Ordinal);
    }

    /// <summary>A key is for input from outside, so a contract without such input offers none.</summary>
    [Fact]
    public void Key_OfAContractWithoutImpulses_IsNotOffered()
    {
        Generation generation = Generation.Of("[Contract] public interface IX { void Go(int a); }");
        Assert.DoesNotContain("WithKey", generation.Generated("IXProxy.g.cs"), StringComparison.Ordinal);
    }

    /// <summary>A class that is not abstract is an immortal, wherever its base stands, and must be partial.</summary>
    [Fact]
    public void Immortal_UnderAnOwnBase_MustBePartial()
    {
        Generation generation = Generation.Of(
            Contract + $"public abstract class Own : Immortal<IX> {{ }} public sealed class X : Own, IX {{ {Handlers} }}");
        Assert.Equal("AMB001", Assert.Single(generation.Diagnostics).Id);
    }
}
