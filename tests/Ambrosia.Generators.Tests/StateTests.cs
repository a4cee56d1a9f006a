using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests;

/// <summary>Tests which types get codecs for checkpoints, what those look like, and when they are generated again.</summary>
public sealed class StateTests
{
    private const string Source = """
        #pragma warning disable CS0649
        namespace Demo;
        public interface ISmall { [MethodId(1)] Call<long> Go(); }
        public partial class Small : Immortal<ISmallProxy>, ISmall
        {
            private readonly Dictionary<string, Shelf> shelves = [];
            private ISmallProxy? other;
            private Hidden hidden;
            [NotState] private Skipped? skipped;
            public async Call<long> Go()
            {
                LocalTypes local = new LocalTypes();
                long got = await thisProxy.GoAsync();
                other = thisProxy;
                hidden.Pieces += local.Number + shelves.Count + (skipped is null ? 1 : 0); /* body */
                return got;
            }
            private struct Hidden { public long Pieces; }
        }
        public abstract class Shelf { protected int rows; public IForm? Form { get; set; } }
        public sealed class Wooden(string made) : Shelf { public string Made() => made + rows; }
        public interface IForm;
        public sealed record Round(double Radius) : IForm;
        public sealed class LocalTypes { public int Number; }
        public sealed class Skipped { public int Number; }
        public sealed class Unrelated { public int Number; /* here */ }
        """;

    [Fact]
    public void Types_OfTheState_GetCodecs()
    {
        Generation generation = Generation.Of(Source);

        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
        Assert.Equal(
            ["Demo.LocalTypes.State.g.cs", "Demo.Round.State.g.cs", "Demo.Small.Hidden.State.g.cs", "Demo.Small.State.g.cs",
                "Demo.Wooden.State.g.cs", "StateRegistry.g.cs"],
            generation.Files().Where(static name => name.Contains("State", StringComparison.Ordinal)));
        string small = generation.Generated("Small.State.g.cs");
        Assert.Contains("ref global::Demo.ISmallProxy Of_other(", small, StringComparison.Ordinal);
        Assert.DoesNotContain("skipped", small, StringComparison.Ordinal);
    }

    [Fact]
    public void Codec_IsAsInTheSnapshot()
    {
        Generation generation = Generation.Of(Source);
        foreach (string file in new[] { "Demo.Wooden.State.g.cs", "Demo.Small.Hidden.State.g.cs" })
            Snapshot.Check(file, generation.Generated(file));
    }

    /// <summary>What a codec cannot reach is left to reflection, silently and without an error.</summary>
    [Theory]
    [InlineData("public class Outer { private sealed class Part { public int A; } private Part? part; }")]
    [InlineData("public sealed class Outer : List<int> { public int A; }")]
    [InlineData("public sealed unsafe class Outer { private int* pointer; public bool Is() => pointer == null; }")]
    [InlineData("public sealed class Outer { private volatile int a; public int A() => a; }")]
    [InlineData("public sealed class Outer { public event Action? Happened; public void Happen() => Happened?.Invoke(); }")]
    [InlineData("public sealed class Outer : Parent<int>; public abstract class Parent<T> { public T? Value; }")]
    public void Type_ThatCodeCannotReach_GetsNone(string outer)
    {
        Generation generation = Generation.Of($$"""
            #pragma warning disable CS0169, CS0649
            public interface ISmall { void Go(Outer? outer); }
            [Data] {{outer}}
            """);

        Assert.DoesNotContain(generation.Files(), static name => name.Contains("Outer.State", StringComparison.Ordinal));
        Assert.DoesNotContain(generation.Errors(), static error => error.Contains("State", StringComparison.Ordinal));
    }

    /// <summary>Names that are keywords, nested namespaces and types, generic ones with constraints, fields of a library's types.</summary>
    [Fact]
    public void Names_OfAllKinds_Compile()
    {
        Generation generation = Generation.Of("""
            #pragma warning disable CS0649
            namespace @namespace.Inner;
            public interface Iif { [MethodId(1)] void @void(int @int); }
            public static partial class Outer
            {
                internal sealed partial class @new : Immortal<IifProxy>, Iif
                {
                    private @class<@event, List<@event?>>? @this;
                    private (int @in, @event? @out)? pair;
                    private IifProxy?[]? proxies;
                    private Dictionary<string, IReadOnlyList<IifProxy>>? named;
                    private Nested.Deep? deep;
                    public void @void(int @int) { @this = null; pair = null; proxies = null; named = null; deep = null; _ = (@this, pair, proxies, named, deep); }
                    private sealed partial class Nested { internal sealed class Deep { public int @event; } }
                }
            }
            public sealed record @event(string? @null, DateTimeOffset At, IEnumerable<int>? Any);
            public class @class<T, TOther> where T : class where TOther : IEnumerable<T?>, new() { private T? @ref; private TOther? other; public void Set(T? t, TOther? o) => (@ref, other) = (t, o); public object? Get() => (@ref, other); }
            """);

        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
        Assert.Contains("@namespace.Inner.event.State.g.cs".Replace("@", ""),
            generation.Files().Select(static name => name.Replace("@", "")));
        Assert.Contains(generation.Files(), static name => name.Contains("Deep.State", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("/* here */", "public int More;")]
    [InlineData("/* body */", "got += 1;")]
    [InlineData("public interface IForm;", "\n// a comment\npublic interface IForm { void Draw() { } }")]
    public void Edit_OfNoField_WritesNothingAgain(string from, string to)
    {
        Generation edited = Generation.Of(Source).Edited(from, to);

        Assert.Empty(edited.Errors());
        IncrementalStepRunReason[] reasons = edited.Reasons(ImmortalGenerator.StateStep);
        Assert.NotEmpty(reasons);
        Assert.All(reasons,
            static reason => Assert.True(reason is IncrementalStepRunReason.Cached or IncrementalStepRunReason.Unchanged, $"{reason}"));
    }

    /// <summary>The negative control: a new field writes that codec again, and no other.</summary>
    [Fact]
    public void Edit_OfAField_WritesItsCodecAgain()
    {
        Generation edited = Generation.Of(Source)
            .Edited("public int Number; }\npublic sealed class Skipped", "public int Number, More; }\npublic sealed class Skipped");

        Assert.Single(edited.Reasons(ImmortalGenerator.StateStep), static reason => reason == IncrementalStepRunReason.Modified);
    }
}
