using System.Reflection;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Session;
using Ambrosia.State;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Generated code and reflection are two ways to the same bytes, in both directions.</summary>
public sealed class StateCodecTests
{
    /// <summary>Whatever the tests keep in a state that code can be generated for, it is; what is left says why it is.</summary>
    [Fact]
    public void Types_OfTheTestsState_HaveGeneratedCodecs()
    {
        Type[] all = [typeof(Vault), typeof(Keeper), typeof(Bank), typeof(Worker), typeof(Derived), typeof(Base), typeof(Point),
            typeof(Pot<int>), typeof(Pot<string>), typeof(Circle), typeof(Square), typeof(Empty),
            typeof(Node), typeof(Pair), typeof(Contracted), typeof(CaseKey), typeof(Vault).GetNestedType("Secret", BindingFlags.NonPublic)!,
            typeof((int, string)), typeof((int, int, int, int, int, int, int, int, string)), typeof(KeyValuePair<int, string>)];

        Assert.Empty(all.Where(static type => FieldPlan.Of(type).Codec is null).Select(type => type.ToString()));
    }

    /// <summary>
    /// The negative control: what the compiler makes, and an exception's private fields, are reached by reflection alone.
    /// </summary>
    [Fact]
    public void Types_ThatCodeCannotReach_HaveNone()
    {
        Assert.Null(FieldPlan.Of(typeof(InvalidOperationException)).Codec);
        Assert.Null(FieldPlan.Of(new { A = 1 }.GetType()).Codec);
        Assert.Null(FieldPlan.Of(typeof(ImageRoot)).Codec);
    }

    [Fact]
    public void Images_OfRandomStates_AreEqualByBothWays()
    {
        for (int seed = 1; seed <= 60; seed++)
        {
            ImmortalRuntime vault = Filled<Vault>(seed), grower = Filled<Grower>(seed);
            byte[] ofVault = BothWays(vault), ofGrower = BothWays(grower);
            foreach (bool reads in new[] { false, true })
            {
                Assert.Equal(ofVault, Restored<Vault>(ofVault, reads).WriteImage().ToArray());
                Assert.Equal(ofGrower, Restored<Grower>(ofGrower, reads).WriteImage().ToArray());
            }
        }
    }

    [Fact]
    public void State_OfEveryForm_ComesBackAsItWas()
    {
        ImmortalRuntime first = Filled<Vault>(3);
        var was = (Vault)first.Immortal!;
        var now = (Vault)Restored<Vault>(first.WriteImage().ToArray(), isReflective: false).Immortal!;

        Assert.Equal((was.SecretCount, true), (now.SecretCount, now.IsFavouriteShared));
        Assert.Equal((was.Derived!.At, was.Derived.Color, was.Derived.Captured(), was.Derived.Sum()),
            (now.Derived!.At, now.Derived.Color, now.Derived.Captured(), now.Derived.Sum()));
        Assert.Equal(was.Derived.Same, now.Derived.Same);
        Assert.Same(now.Texts, now.Texts!.Next!.Next);
        Assert.Equal(was.Points!.Content, now.Points!.Content);
        Assert.Equal(was.Pairs!, now.Pairs!);
        Assert.Equal((was.Long, was.Wide, was.NoColor), (now.Long, now.Wide, now.NoColor));
        Assert.Equal(was.Forms!, now.Forms!);
        Assert.Equal(was.Address, now.Address);
        Assert.Same(now.Address, now.SameAddress);
        Assert.Equal((was.Float, was.Double, was.Span, was.Time, was.Id, was.Money, was.Letter, was.Small),
            (now.Float, now.Double, now.Span, now.Time, now.Id, now.Money, now.Letter, now.Small));
        Assert.Equal((was.Half, was.Least, was.Most, was.Day, was.Deep), (now.Half, now.Least, now.Most, now.Day, now.Deep));
        Assert.Equal(was.Ragged!, now.Ragged!);
        Assert.Equal([.. was.Fixed], now.Fixed.AsEnumerable());
        Assert.True(now.IsFixedShared);
        Assert.Equal("other", now.Other!.InstanceName);
    }

    /// <summary>What an image of this state looked like when this was written: images of released versions are read for ever.</summary>
    [Fact]
    public void Image_OfAKnownState_HasTheseBytes()
    {
        var graph = new GraphWriter();
        var to = new Pot<string>("grüße", null);
        to.Next = to;
        graph.IdOf(to);
        graph.IdOf(new Circle(1.5));
        graph.WriteAll();
        Assert.Equal(
            "82" + // two types, each with its name, its kind, and the names and slots of its fields
            "83" + "82" + Text("Ambrosia.Binding.Tests.Pot`1, Ambrosia.Binding.Tests") + Text("System.String, System.Private.CoreLib")
            + "00" + "84" + Text("_content") + Text("s") + Text("_next") + Text("@") +
            "83" + Text("#1 Ambrosia.Binding.Tests.IForm, Ambrosia.Binding.Tests")
            + "00" + "82" + Text("<Radius>k__BackingField") + Text("f8") +
            "84" + // two objects, each its type and its body
            "00" + "82" + Text("grüße") + "00" +
            "01" + "81" + "1B3FF8000000000000",
            Hex(graph));
    }

    /// <summary>
    /// Structs have no identity: in a collection or a field they stand in place, without an id and without an object of their own.
    /// </summary>
    [Fact]
    public void Structs_StandInPlace()
    {
        var graph = new GraphWriter();
        graph.IdOf(new List<Point?> { new(1, 2), new(3, 4) });
        graph.WriteAll();
        string list = Text("System.Collections.Generic.List`1, System.Private.CoreLib"),
            nullable = Text("System.Nullable`1, System.Private.CoreLib"), point = Text("Ambrosia.Binding.Tests.Point, Ambrosia.Binding.Tests");
        Assert.Equal(
            "82" + "83" + "82" + list + "82" + nullable + point + "04" + "81" + Text("?#1") +
            "83" + point + "01" + "84" + Text("<X>k__BackingField") + Text("i4") + Text("<Y>k__BackingField") + Text("i4") +
            "82" + "00" + "83" + "00" + "820102" + "820304", // one object: its type, the comparer, then the elements
            Hex(graph));
    }

    /// <summary>
    /// A type that no generated code knows and the same type with one: a base class's private field is seen by neither less.
    /// </summary>
    [Fact]
    public void Codec_ThatMissesAField_IsNotUsed()
    {
        StateCodecs.Add(static () => new Forgetful());
        Assert.Null(StateCodecs.Of(typeof(Forgotten)));
    }

    private sealed class Forgotten
    {
        internal int Known = 1, Missed = 2;
    }

    private sealed class Forgetful : StateCodec<Forgotten>
    {
        public override string[] Names { get; } = ["Known"];

        public override void Write(GraphWriter graph, ref CborWriter to, Forgotten value) => to.WriteInt64(value.Known + value.Missed);

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref Forgotten value) =>
            value.Known = from.ReadInt32();
    }

    private static byte[] BothWays(ImmortalRuntime runtime)
    {
        byte[] generated = runtime.WriteImage().ToArray();
        Assert.Equal(generated, runtime.WriteImage(isReflective: true).ToArray());
        return generated;
    }

    private static ImmortalRuntime Filled<T>(int seed)
        where T : Immortal, IImmortal<T>
    {
        FakeCoordinator coordinator = Started<T>();
        coordinator.Deliver(Fork(1, seed));
        Assert.Equal(0, coordinator.Session.FailedForks);
        return coordinator.Session.Runtime!;
    }

    private static ImmortalRuntime Restored<T>(byte[] image, bool isReflective)
        where T : Immortal, IImmortal<T>
    {
        ImmortalRuntime runtime = NewRuntime<T>();
        using LargeBuffer bytes = Images.GraphBytes.Buffered(image);
        runtime.Restore(bytes, acceptSource: false, isReflective);
        return runtime;
    }

    private static string Hex(GraphWriter graph) => Convert.ToHexString(Images.GraphBytes.Of(graph));

    private static string Text(string text)
    {
        var bytes = new System.Buffers.ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        to.WriteString(text);
        to.Flush();
        return Convert.ToHexString(bytes.WrittenSpan);
    }
}
