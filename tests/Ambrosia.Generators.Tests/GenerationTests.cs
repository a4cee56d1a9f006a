using System.Reflection;
using System.Text.Json;
using Ambrosia.Generators.Serialization;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Generators.Tests;

public sealed class GenerationTests
{
    /// <summary>
    /// The paper's §4.2, with the edits of the design and no others: Immortal for Immutable, partial, the thread
    /// started in BecomingPrimary.
    /// </summary>
    private const string Paper = """
        using System.Runtime.Serialization;
        using System.Threading;

        public interface ICounter {
            void Increment();
            void Reset();
        }
        public interface IMonitor {
            void Report(int count);
        }

        [DataContract] partial class Counter :
            Immortal<ICounterProxy>, ICounter
        {
            [DataMember] int count;
            [DataMember] IMonitorProxy monitorProxy;

            public Counter() {
                monitorProxy = GetProxy<IMonitor>("mon1");
            }

            public void Reset() { count = 0; }

            public void Increment() {
                count++;
                if (count % 1000 == 0)
                    monitorProxy.ReportFork(count);
            }
        }

        public interface IMyImmortal {
            [ImpulseHandler]
            void UserInput(string line);
        }

        partial class MyImmortal :
            Immortal<IMyImmortalProxy>, IMyImmortal
        {
            protected override void BecomingPrimary() {
                new Thread(() => {
                    string? line;
                    while ((line=Console.ReadLine())!=null)
                        thisProxy.UserInputFork(line);
                }).Start();
            }
            public void UserInput(string line) {
                // process input deterministically here
            }
        }
        """;

    private const string Shapes = """
        namespace Demo.Contracts
        {
            public enum Colour : ulong { Red, Green = ulong.MaxValue }
            public enum Odd : sbyte { Least = sbyte.MinValue }
            [Data] public sealed record Point(int X, int Y = 7);
            [Data] public class Tree
            {
                public string Name { get; set; } = "none";
                public List<Tree> Children { get; init; } = [];
                public required Point At { get; set; }
                [Field(3)] public decimal? Cost;
                public int Depth => Children.Count;
            }
            [Data] public struct Small { public byte B; public char C { get; init; } }
            public static class Outer { [Data] internal sealed record Inner(Guid Id); }

            public interface IBase { [MethodId(1)] void Ping(); }
            public interface IEverything : IBase
            {
                bool Flags(bool a, sbyte b, short c, int d, long e, byte f, ushort g, uint h, ulong i);
                Call<double> Reals(float a, double b, decimal c, char d);
                string Texts(string a, string? b, byte[] c, byte[]? d);
                Call<TimeSpan?> Times(DateTime a, DateTimeOffset b, TimeSpan c, Guid? d);
                Colour Enums(Colour a, DayOfWeek? b, Colour[] c);
                List<Point?> Lists(int[] a, int[][]? b, List<string?> c, IReadOnlyList<List<int>> d, byte[][] e);
                Dictionary<string, List<Tree>> Maps(SortedDictionary<int, string> a, IReadOnlyDictionary<Point, int[]>? b, IDictionary<long, Small?> c);
                (int, Tree?) Tuples((int A, (string, Point) B) a, List<(int, int)> b);
                Call<ReadOnlyMemory<byte>> Memory(ReadOnlyMemory<byte> bytes);
                void Span(ReadOnlySpan<byte> bytes);
                void Spans(int a, ReadOnlySpan<byte> b, ReadOnlyMemory<byte> c);
                void Defaults(int a = -5, string b = "x\"y", string? c = null, Colour d = Colour.Green, double e = double.NaN, char f = '\n', bool g = true, Small h = default, long? i = 4, DayOfWeek? j = DayOfWeek.Friday);
                Call<DateOnly?> Days(DateOnly a, TimeOnly b, TimeOnly?[] c, int[]?[] d, byte[]?[]? e, List<int[]>[][] f, (int[] A, string? B)[][] g, Odd? h);
                Call Keywords(int @event, int message, int writer, int @this);
                Call @class();
                [ImpulseHandler] void Input(string line, int key);
                [ImpulseHandler] Call Tick();
            }
        }
        namespace Demo
        {
            using Demo.Contracts;
            public partial class Everything : Immortal<Contracts.IEverythingProxy>, IEverything
            {
                public void Ping() { }
                public bool Flags(bool a, sbyte b, short c, int d, long e, byte f, ushort g, uint h, ulong i) => a;
                public async Call<double> Reals(float a, double b, decimal c, char d) { await thisProxy.PingAsync(); return a + b; }
                public string Texts(string a, string? b, byte[] c, byte[]? d) => a;
                public async Call<TimeSpan?> Times(DateTime a, DateTimeOffset b, TimeSpan c, Guid? d) { await thisProxy.PingAsync(); return c; }
                public Colour Enums(Colour a, DayOfWeek? b, Colour[] c) => a;
                public List<Point?> Lists(int[] a, int[][]? b, List<string?> c, IReadOnlyList<List<int>> d, byte[][] e) => [];
                public Dictionary<string, List<Tree>> Maps(SortedDictionary<int, string> a, IReadOnlyDictionary<Point, int[]>? b, IDictionary<long, Small?> c) => [];
                public (int, Tree?) Tuples((int A, (string, Point) B) a, List<(int, int)> b) => default;
                public async Call<ReadOnlyMemory<byte>> Memory(ReadOnlyMemory<byte> bytes) { await thisProxy.PingAsync(); return default; }
                public void Span(ReadOnlySpan<byte> bytes) { }
                public void Spans(int a, ReadOnlySpan<byte> b, ReadOnlyMemory<byte> c) { }
                void IEverything.Defaults(int a, string b, string? c, Colour d, double e, char f, bool g, Small h, long? i, DayOfWeek? j) { }
                public async Call<DateOnly?> Days(DateOnly a, TimeOnly b, TimeOnly?[] c, int[]?[] d, byte[]?[]? e, List<int[]>[][] f, (int[] A, string? B)[][] g, Odd? h) { await thisProxy.PingAsync(); return a; }
                public async Call Keywords(int @event, int message, int writer, int @this) => await thisProxy.classAsync();
                public async Call @class() => await thisProxy.InputAsync("x", 1);
                public void Input(string line, int key) { }
                public async Call Tick() => await Call.WhenAll(thisProxy.PingAsync(), thisProxy.TickAsync());
            }
        }
        """;

    [Fact]
    public void Paper_WithTheEditsOfTheDesign_Compiles()
    {
        Generation generation = Generation.Of(Paper);

        Assert.Empty(generation.Diagnostics);
        Assert.DoesNotContain(generation.Output.GetDiagnostics(),
            each => each.Severity == Microsoft.CodeAnalysis.DiagnosticSeverity.Error
                && !each.Id.StartsWith("CS06", StringComparison.Ordinal));
        Assert.Equal(
            ["ContractManifest.g.cs", "Counter.Dispatch.g.cs", "Counter.State.g.cs", "ICounterProxy.g.cs", "IMonitorProxy.g.cs",
                "IMyImmortalProxy.g.cs", "MyImmortal.Dispatch.g.cs", "MyImmortal.State.g.cs", "StateRegistry.g.cs"],
            generation.Files());
    }

    [Fact]
    public void Contract_OfAllShapes_Compiles()
    {
        Generation generation = Generation.Of(Shapes);

        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
        // A handler that may be suspended gets a copy of its bytes: the receive buffer is filled anew meanwhile.
        Assert.Contains(".Memory(message.Arguments.ToArray())", generation.Generated("Everything.Dispatch.g.cs"), StringComparison.Ordinal);
    }

    [Fact]
    public void Contract_Small_IsAsInTheSnapshot()
    {
        Generation generation = Generation.Of("""
            namespace Demo;
            [Data] public sealed record Point(int X, [property: Field(2)] string? Y);
            public interface ISmall
            {
                [MethodId(1)] void Ping();
                [MethodId(2)] int Add(int by, List<Point> points);
                [MethodId(3)] Call<long> Later(ReadOnlySpan<byte> bytes);
                [MethodId(4), ImpulseHandler] void Input(string line);
            }
            public partial class Small : Immortal<ISmallProxy>, ISmall
            {
                public void Ping() { }
                public int Add(int by, List<Point> points) => by;
                public Call<long> Later(ReadOnlySpan<byte> bytes) => Call.FromResult(1L);
                public void Input(string line) { }
            }
            """);

        Assert.Empty(generation.Errors());
        foreach (string file in generation.Files()) Snapshot.Check(file, generation.Generated(file));
    }

    [Fact]
    public void Contract_Of500Methods_IsDispatched()
    {
        string methods = string.Join('\n', Enumerable.Range(0, 500).Select(i => $"[MethodId({1000 + i})] int M{i}(int a);"));
        string bodies = string.Join('\n', Enumerable.Range(0, 500).Select(i => $"public int M{i}(int a) => a + {i};"));
        Assembly assembly = Generation.Of($$"""
            public interface IWide { [MethodId(5)] string Last(string a); {{methods}} }
            public partial class Wide : Immortal<IWideProxy>, IWide { public string Last(string a) => a + "!"; {{bodies}} }
            """).Load();
        Type type = assembly.GetType("Wide")!;
        var definition = (ImmortalDefinition)typeof(ImmortalDefinition).GetMethod(nameof(ImmortalDefinition.Of))!.MakeGenericMethod(type)
            .Invoke(null, null)!;

        Assert.Equal("oh!", Speaking.Ask(definition, method: 5, "oh"));
        using JsonDocument json = JsonDocument.Parse(assembly.GetCustomAttribute<ContractManifestAttribute>()!.Json);
        Assert.Equal(501, json.RootElement.GetProperty("contracts")[0].GetProperty("methods").GetArrayLength());
    }

    [Fact]
    public void Names_NestedNullableAndKeywords_Compile()
    {
        Generation generation = Generation.Of("""
            namespace @namespace.A { namespace B.@class
            {
                [Data] public sealed record @event(string? @null, List<string?>? Deep, Dictionary<string, int?[]?>? @in);
                public interface Iif { [MethodId(1)] Call<@event?> @async(@event? @await, string? @string = null); [MethodId(2)] void @void(int @int); }
                public static partial class Outer
                {
                    public partial struct Middle
                    {
                        internal sealed partial class @new : Immortal<IifProxy>, Iif
                        {
                            public async Call<@event?> @async(@event? @await, string? @string) { await thisProxy.voidAsync(1); return @await; }
                            public void @void(int @int) { }
                        }
                    }
                }
            } }
            """);

        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
    }

    [Fact]
    public void Generated_Code_Runs()
    {
        Assembly assembly = Generation.Of("""
            public interface IEcho { [MethodId(5)] string Say(string what, int times = 2); }
            public partial class Echo : Immortal<IEchoProxy>, IEcho
            {
                public string Say(string what, int times) => string.Concat(System.Linq.Enumerable.Repeat(what, times));
            }
            """).Load();
        Type type = assembly.GetType("Echo")!;
        var definition = (ImmortalDefinition)typeof(ImmortalDefinition).GetMethod(nameof(ImmortalDefinition.Of))!.MakeGenericMethod(type)
            .Invoke(null, null)!;

        Assert.NotEqual(0ul, definition.ContractHash);
        Assert.Equal("oh", Speaking.Ask(definition, method: 5, "oh", 1));
        Assert.Equal("ohoh", Speaking.Ask(definition, method: 5, "oh"));
    }

    [Fact]
    public void MethodIds_AreThoseOfTheProtocol()
    {
        string proxy = Generation.Of("namespace Demo; [Contract] public interface IMonitor { void Report(int count); }")
            .Generated("IMonitorProxy.g.cs");

        Assert.Contains($"BeginFork(0x{MethodIds.Of("IMonitor", "Report"):X}u)", proxy, StringComparison.Ordinal);
    }

    [Fact]
    public void Contract_InAReferencedAssembly_IsServedAndCalled()
    {
        Generation contracts = Generation.OfAssembly("Contracts",
            "namespace Shared; [Data] public record Item(int N); [Contract] public interface IStore { Call<Item?> Find(Item like); }");
        Generation app = Generation.OfAssembly("App", """
            using Shared;
            public partial class Store : Immortal<IStoreProxy>, IStore
            {
                private readonly IStoreProxy other;
                public Store() { other = GetProxy<IStore>("other"); }
                public async Call<Item?> Find(Item like) => await other.FindAsync(like);
            }
            """, contracts.AsReference());

        Assert.Empty(app.Diagnostics);
        Assert.Empty(app.Errors());
        Assert.Equal(["StateRegistry.g.cs", "Store.Dispatch.g.cs", "Store.State.g.cs", "Suspendable.g.cs"], app.Files());
    }

    [Fact]
    public void Contract_KnownOnlyByItsProxysName_IsGenerated()
    {
        Generation generation = Generation.Of("""
            namespace Contracts { public interface IFar { void Go(); } }
            namespace App
            {
                public class Holder { public Contracts.IFarProxy? Far; }
            }
            """);

        Assert.Empty(generation.Errors());
        Assert.Contains("Contracts.IFarProxy.g.cs", generation.Files());
    }

    [Fact]
    public void Manifest_IsJsonWithItsHash()
    {
        Generation generation = Generation.Of(Shapes);
        Assembly assembly = generation.Load();
        ContractManifestAttribute manifest = assembly.GetCustomAttribute<ContractManifestAttribute>()!;

        using JsonDocument json = JsonDocument.Parse(manifest.Json);
        JsonElement contract = json.RootElement.GetProperty("contracts")[0];
        Assert.Equal("IEverything", contract.GetProperty("name").GetString());
        Assert.Equal(1u, contract.GetProperty("methods")[0].GetProperty("id").GetUInt32());
        Assert.Equal(4, json.RootElement.GetProperty("data").GetArrayLength());
        Assert.Equal(FnvHash.Hash64(manifest.Json), manifest.Hash);
        Assert.Equal(manifest.Json,
            generation.Edited("public void Ping() { }", "public void Ping() { ; }").Load()
                .GetCustomAttribute<ContractManifestAttribute>()!.Json);
    }
}
