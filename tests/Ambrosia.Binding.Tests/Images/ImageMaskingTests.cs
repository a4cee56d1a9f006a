using System.Text;
using System.Text.Json;
using Ambrosia.Images.Json;
using Ambrosia.Images.Masking;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// A masked state is one that the binding restores: it has the same form and length, and other values, which are equal where they were.
/// </summary>
public sealed class ImageMaskingTests
{
    private static readonly int s_seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int seed)
        ? seed : 20261125;

    private static readonly string[] s_originals = ["text 0", "text 1", "text 2", "text 3", "text 4", "grüße", "whole", "derived"];

    [Fact]
    public void State_MaskedAsAWhole_IsRestoredWithOtherValues()
    {
        int rounds = TestScale.Rounds(400);
        for (int i = 0; i < rounds; i++)
        {
            byte[] before = GraphBytes.Written(new RandomState(s_seed + i).Make());
            try
            {
                byte[] after = Masked(before, "root", "root");
                Assert.Equal(before.Length, after.Length);
                GraphBytes.Read(after);
                foreach (string original in s_originals)
                    Assert.True(after.AsSpan().IndexOf(Encoding.UTF8.GetBytes(original)) < 0, $"'{original}' is left");
                AssertIsSameForm(JsonOf(before), JsonOf(after), isMasked: true);
            }
            catch (Exception e)
            {
                throw new InvalidOperationException($"AMBROSIA_FUZZ_SEED={s_seed + i}: {e}\n{JsonOf(before)}", e);
            }
        }
    }

    [Fact]
    public void State_MaskedByOneField_IsTheSameInAllOthers()
    {
        var state = new Everything { Text = "Ada Lovelace", Money = 12.50m, I4 = 7, Any = new Name("Ada"), Letters = default };
        state.Next = new List<string> { "dear Ada Lovelace,", "Ada Lovelace", "nobody" };
        byte[] before = GraphBytes.Written(state), after = Masked(before, "state", "Everything.text");
        var masked = (Everything)GraphBytes.Read(after);
        var texts = (List<string>)masked.Next!;
        Assert.Equal("Ada Lovelace".Length, masked.Text!.Length);
        Assert.NotEqual("Ada Lovelace", masked.Text);
        Assert.Equal(["dear " + masked.Text + ",", masked.Text, "nobody"], texts);
        Assert.Equal((12.50m, 7, "Ada"), (masked.Money, masked.I4, ((Name)masked.Any!).Given));
    }

    [Fact]
    public void State_MaskedByAReference_IsMaskedBelowIt()
    {
        var state = new Everything { I4 = 7, Text = "kept" };
        state.Any = new Dictionary<string, Place> { ["home"] = new(1, 1_000, Mood.Glad, 1.5) };
        var masked = (Everything)GraphBytes.Read(Masked(GraphBytes.Written(state), "state", "any"));
        (string key, Place place) = Assert.Single((Dictionary<string, Place>)masked.Any!);
        Assert.NotEqual("home", key);
        Assert.NotEqual(1_000, place.Room);
        Assert.Equal((7, "kept"), (masked.I4, masked.Text));
    }

    [Fact]
    public void Map_MaskedByItsKeys_KeepsItsValues()
    {
        var state = new Everything { Any = new SortedDictionary<string, long>(StringComparer.Ordinal) { ["ann"] = 500, ["bob"] = 20 } };
        var masked = (Everything)GraphBytes.Read(Masked(GraphBytes.Written(state), "state", "Any.keys"));
        var map = (SortedDictionary<string, long>)masked.Any!;
        Assert.Equal([20L, 500L], map.Values.Order());
        Assert.Empty(map.Keys.Intersect(["ann", "bob"]));
    }

    /// <summary>
    /// What the session holds of messages is masked as these are: a request that comes again is known by its masked key and arguments, and
    /// a message that was set aside is tried again with masked ones.
    /// </summary>
    [Fact]
    public void Session_Masked_KnowsItsRequestsAgain()
    {
        const uint Deposit = 1, Balance = 2, Unknown = 99;
        FakeCoordinator before = Started<Bank>();
        before.Deliver(RecordKinds.EncodeWhole(new PolicyRecord(ForkPolicy.Quarantine, 3_600_000_000, 1_000, 1 << 20)),
            Request(1, "secret key", Deposit, "Ada Lovelace", 5), Fork(Unknown, "Ada Lovelace"), Mark(bound: 1));
        byte[] key = Encoding.UTF8.GetBytes("secret key"), arguments = Cbor.Of("Ada Lovelace", 5);
        using var shuffle = new NumberShuffle(new byte[16]);
        var masker = new ValueMasker(new MaskRules(["$key", "0"]), new MaskedTexts([1, 2, 3]), new MaskedNumbers(shuffle));
        var payloads = new SequencePayloads(masker, arguments);
        using LargeBuffer image = GraphBytes.Buffered(before.Image);
        foreach (bool isLearning in new[] { true, false })
        {
            masker.IsLearning = isLearning;
            ImageMasking.Run(image, masker, payloads);
        }
        byte[] after = image.From(0).ToArray();
        Assert.Equal(before.Image.Length, after.Length);
        foreach (string original in (string[])["secret key", "Ada Lovelace"])
            Assert.True(after.AsSpan().IndexOf(Encoding.UTF8.GetBytes(original)) < 0, $"'{original}' is left");

        payloads.Key(key);
        payloads.Arguments(Deposit, arguments);
        var again = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        again.Welcome(after);
        again.Said.Clear();
        var from = new CborReader(arguments);
        string name = from.ReadString();
        Assert.Equal(5, from.ReadInt32());
        again.Deliver(Request(3, Encoding.UTF8.GetString(key), Deposit, name, 5), Request(4, null, Balance, name));
        string[] heard = [.. again.Said.Where(static line => line.StartsWith("client", StringComparison.Ordinal))];
        Assert.Equal(["clientanswer caller 3.1 1 #3", "clientanswer caller 3.1 2 #4 5"], heard);
    }

    /// <summary>Shuffles are cycles: nothing stays, and nothing comes twice.</summary>
    [Theory]
    [InlineData(0, 1)]
    [InlineData(0, 23)]
    [InlineData(24, 127)]
    [InlineData(100, 1_123)]
    public void Number_OfARange_HasAnotherOfItsOwn(ulong low, ulong high)
    {
        using var shuffle = new NumberShuffle(new byte[16]);
        var others = new HashSet<ulong>();
        for (ulong value = low; value <= high; value++)
        {
            ulong other = shuffle.Of(value, low, high);
            Assert.InRange(other, low, high);
            Assert.NotEqual(value, other);
            Assert.True(others.Add(other), $"{other} comes twice");
        }
    }

    [Fact]
    public void Text_OfFewBytes_HasAnotherAsLongAsThereAreAny()
    {
        var texts = new MaskedTexts([1, 2, 3]);
        byte[][] all = [.. Enumerable.Range(0, 128).Select(static each => new[] { (byte)each })];
        foreach (byte[] each in all) texts.Learn(each, isText: true);
        foreach (byte[] each in all) texts.Mask(each);
        Assert.Equal(128, all.Select(static each => each[0]).Distinct().Count());
        Assert.DoesNotContain(all, static each => each[0] > 127);
    }

    private static byte[] Masked(byte[] graph, string root, string rule)
    {
        using var shuffle = new NumberShuffle([.. Enumerable.Range(1, 16).Select(static each => (byte)each)]);
        var masker = new ValueMasker(new MaskRules([rule]), new MaskedTexts([1, 2, 3]), new MaskedNumbers(shuffle));
        using LargeBuffer bytes = GraphBytes.Buffered(graph);
        foreach (bool isLearning in new[] { true, false })
        {
            masker.IsLearning = isLearning;
            new ObjectMasking(CSharpImage.ReadGraph(bytes), masker, new NoPayloads()).RunGraph(masker.Rules.Of("", root), 0);
        }
        Assert.Empty(masker.Rules.Unknown);
        return bytes.From(0).ToArray();
    }

    private static string JsonOf(byte[] graph)
    {
        using LargeBuffer bytes = GraphBytes.Buffered(graph);
        var json = new MemoryStream();
        StateJson.WriteGraph(bytes, piece => json.Write(piece));
        return Encoding.UTF8.GetString(json.GetBuffer(), 0, (int)json.Length);
    }

    private static void AssertIsSameForm(string before, string after, bool isMasked)
    {
        var options = new JsonDocumentOptions { MaxDepth = 1000 };
        using JsonDocument first = JsonDocument.Parse(before, options), second = JsonDocument.Parse(after, options);
        var known = new Dictionary<string, string>();
        AssertIsSameForm(first.RootElement, second.RootElement, known);
        Assert.Equal(known.Count, known.Values.Distinct().Count());
        Assert.True(isMasked && known.All(static each => each.Key != each.Value), "a text is the same");
    }

    private static void AssertIsSameForm(JsonElement before, JsonElement after, Dictionary<string, string> texts)
    {
        bool isBoolean = before.ValueKind is JsonValueKind.True or JsonValueKind.False;
        if (!isBoolean) Assert.Equal(before.ValueKind, after.ValueKind);
        switch (before.ValueKind)
        {
            case JsonValueKind.Array:
                Assert.Equal(before.GetArrayLength(), after.GetArrayLength());
                foreach ((JsonElement one, JsonElement other) in before.EnumerateArray().Zip(after.EnumerateArray()))
                    AssertIsSameForm(one, other, texts);
                break;
            case JsonValueKind.Object:
                Assert.Equal(before.EnumerateObject().Count(), after.EnumerateObject().Count());
                foreach ((JsonProperty one, JsonProperty other) in before.EnumerateObject().Zip(after.EnumerateObject()))
                    if (one.Name is "$type" or "$ref") Assert.Equal(one.Value.GetRawText(), other.Value.GetRawText());
                    else AssertIsSameForm(one.Value, other.Value, texts);
                break;
            case JsonValueKind.String when before.GetRawText().StartsWith("\"text ", StringComparison.Ordinal):
                Assert.Equal(before.GetRawText().Length, after.GetRawText().Length);
                if (texts.TryGetValue(before.GetRawText(), out string? known)) Assert.Equal(known, after.GetRawText());
                else texts[before.GetRawText()] = after.GetRawText();
                break;
        }
    }

    /// <summary>Masks messages as one would without a contract: the first argument has the name 0.</summary>
    private sealed class SequencePayloads(ValueMasker masker, byte[] request) : IPayloadMasking
    {
        public void Key(Span<byte> key) => masker.Bytes(masker.Rules.Of("", MaskRules.Key), key);

        public void Arguments(uint? method, Span<byte> content)
        {
            var from = new CborReader(content);
            for (int i = 0, start = 0; !from.AtEnd; start = from.Position, i++)
            {
                from.Skip();
                masker.Item(masker.Rules.Of($"{method}", $"{i}"), content[start..from.Position]);
            }
        }

        public void Answer(uint method, bool isFailure, Span<byte> content)
        {
        }

        public ulong HashOf(uint method, ReadOnlySpan<byte> key, ulong hash)
        {
            Assert.Equal(ChannelHash.Append(0, request), masker.IsLearning ? hash : ChannelHash.Append(0, request));
            byte[] masked = [.. request];
            if (!masker.IsLearning) Arguments(method, masked);
            return ChannelHash.Append(0, masked);
        }
    }

    private sealed class NoPayloads : IPayloadMasking
    {
        public void Key(Span<byte> key) => throw new InvalidOperationException();

        public void Arguments(uint? method, Span<byte> content) => throw new InvalidOperationException();

        public void Answer(uint method, bool isFailure, Span<byte> content) => throw new InvalidOperationException();

        public ulong HashOf(uint method, ReadOnlySpan<byte> key, ulong hash) => throw new InvalidOperationException();
    }
}
