using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests;

/// <summary>Tests the methods that a client outside has for a contract.</summary>
public sealed class ClientTests
{
    private static readonly MetadataReference s_client = MetadataReference.CreateFromFile(typeof(Client.ImmortalClient).Assembly.Location);

    private const string Contracts = """
        namespace Demo.Contracts;
        [Data] public sealed record Point(int X, [property: Field(2)] string? Y);
        public interface ISmall
        {
            [MethodId(1)] void Ping();
            [MethodId(2)] Call<int> Add(int by, List<Point> points, int cancellationToken = 3);
            [MethodId(3)] ReadOnlyMemory<byte> Echo(ReadOnlySpan<byte> bytes);
            [MethodId(4), ImpulseHandler] void Input(string @event);
            [MethodId(5)] string? @class(Point? at = null);
            [MethodId(6), Query] long Sum(List<Point> points);
            [MethodId(7), Query] ReadOnlyMemory<byte> Raw(ReadOnlyMemory<byte> of);
        }
        """;

    private const string Caller = """
        using Ambrosia.Client;
        using Demo.Contracts;
        namespace Demo;
        public static class Caller
        {
            public static async Task Go(ImmortalClient client)
            {
                var small = client.GetProxy<ISmall>();
                await small.PingAsync();
                int sum = await small.WithKey("k").AddAsync(1, [new Point(1, "a")]);
                ReadOnlyMemory<byte> same = await small.EchoAsync(new byte[] { 1, 2 });
                Ambrosia.Protocol.Lsn logged = await small.InputLogged("x", default);
                await small.InputAsync("x");
                string? name = await small.classAsync(/* here */);
                long seen = await small.AtLeast(await small.InputLogged("x")).SumAsync([]);
                ReadOnlyMemory<byte> raw = (await small.RawAsync(new byte[] { 1 })).Value;
            }
        }
        """;

    private static Generation Of(string source, params MetadataReference[] references) => Generation.Of(source, [s_client, .. references]);

    /// <summary>The contract is in a referenced assembly, as it is for a web server; its proxy for immortals stays there.</summary>
    [Fact]
    public void Contract_OfAReferencedAssembly_IsCalled()
    {
        MetadataReference contracts = Generation.OfAssembly("Contracts", Contracts).AsReference();
        Generation generation = Of(Caller, contracts);
        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
        Assert.Equal(["Demo.Contracts.ISmallClientCalls.g.cs"], generation.Files());
        Snapshot.Check("Demo.Contracts.ISmallClientCalls.g.cs", generation.Generated("Demo.Contracts.ISmallClientCalls.g.cs"));
    }

    /// <summary>Methods are there wherever the proxy's type is named: a container, or a helper of one's own, can make proxies.</summary>
    [Theory]
    [InlineData("public static Task<int> Go(ClientProxy<IOne> one) => one.GoAsync();")]
    [InlineData("public static Task<int> Go(System.IServiceProvider services) => Get<ClientProxy<IOne>>(services).GoAsync();")]
    [InlineData("public static Task<int> Go(Ambrosia.Client.ClientProxy<global::IOne> one) => one.GoAsync();")]
    [InlineData("public static Task<int> Go(ImmortalClient client) { ClientProxy<IOne> one = Of<IOne>(client); return one.GoAsync(); }")]
    [InlineData("public static Task<int> Go(object s, ImmortalClient c) { s.AddImmortalClient<IOne>(\"one\"); var one = Of<IOne>(c); return one.GoAsync(); }")]
    public void Proxy_WhoseTypeIsNamed_HasItsMethods(string member)
    {
        MetadataReference contract = Generation.OfAssembly("Contracts", "[Contract] public interface IOne { int Go(); }").AsReference();
        Generation generation = Of($$"""
            using Ambrosia.Client;
            using Ambrosia.Hosting;
            namespace Ambrosia.Hosting
            {
                internal static class Registering
                {
                    public static void AddImmortalClient<T>(this object services, string name) where T : class { }
                }
            }
            public static class Caller
            {
                {{member}}
                private static ClientProxy<T> Of<T>(ImmortalClient client) where T : class => client.GetProxy<T>();
                private static T Get<T>(System.IServiceProvider services) => (T)services.GetService(typeof(T))!;
            }
            """, contract);
        Assert.Empty(generation.Errors());
        Assert.Equal(["IOneClientCalls.g.cs"], generation.Files());
    }

    /// <summary>A type of that name that is somebody else's is none.</summary>
    [Fact]
    public void Proxy_OfAnotherLibrary_HasNoMethods()
    {
        Generation generation = Of("""
            namespace Other { public sealed class ClientProxy<T>; }
            public interface IOne { int Go(); }
            public static class Caller { public static void Go(Other.ClientProxy<IOne> one) { } }
            """);
        Assert.Empty(generation.Files());
    }

    /// <summary>In the project of the contract itself a caller outside and an immortal may both be.</summary>
    [Fact]
    public void Contract_OfTheSameProject_IsCalledAndServed()
    {
        Generation generation = Of("""
            using Ambrosia.Client;
            public interface IOne { int Go(); }
            public partial class One : Immortal<IOneProxy>, IOne { public int Go() => 1; }
            public static class Caller { public static Task<int> Go(ImmortalClient client) => client.GetProxy<IOne>().GoAsync(); }
            """);
        Assert.Empty(generation.Errors());
        Assert.Contains("IOneProxy.g.cs", generation.Files());
        Assert.Contains("IOneClientCalls.g.cs", generation.Files());
    }

    /// <summary>This is a negative control: an immortal's GetProxy makes no methods for callers outside.</summary>
    [Fact]
    public void GetProxy_OfAnImmortal_MakesNoneForCallers()
    {
        Generation generation = Of("""
            public interface IOne { int Go(); }
            public partial class One : Immortal<IOneProxy>, IOne { public int Go() { IOneProxy other = GetProxy<IOne>("x"); return 1; } }
            """);
        Assert.Empty(generation.Errors());
        Assert.DoesNotContain("IOneClientCalls.g.cs", generation.Files());
    }

    [Fact]
    public void Edit_ThatIsUnrelated_MakesNothingAgain()
    {
        MetadataReference contracts = Generation.OfAssembly("Contracts", Contracts).AsReference();
        Generation edited = Of(Caller, contracts).Edited("/* here */", "new Point(2, null)");
        Assert.Empty(edited.Errors());
        IncrementalStepRunReason[] reasons = edited.Reasons(ImmortalGenerator.ClientStep);
        Assert.NotEmpty(reasons);
        Assert.All(reasons,
            static reason => Assert.True(reason is IncrementalStepRunReason.Cached or IncrementalStepRunReason.Unchanged, $"{reason}"));
    }
}
