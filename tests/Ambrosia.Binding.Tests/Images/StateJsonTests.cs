using System.Buffers;
using System.Text;
using System.Text.Json;
using Ambrosia.Images.Json;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.TestKit;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>An image is shown without the app as what the app has: the reader of images knows nothing of the binding.</summary>
public sealed class StateJsonTests
{
    private static readonly int s_seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int seed)
        ? seed : 20261123;

    [Fact]
    public void State_Random_IsShownAsItIs()
    {
        int rounds = TestScale.Rounds(500);
        for (int i = 0; i < rounds; i++)
        {
            object root = new RandomState(s_seed + i).Make();
            string json = JsonOf(root);
            try
            {
                using JsonDocument document = JsonDocument.Parse(json, new JsonDocumentOptions { MaxDepth = 1000 });
                new LiveState(document.RootElement).AssertIsRoot(root);
            }
            catch (Exception e)
            {
                throw new InvalidOperationException($"AMBROSIA_FUZZ_SEED={s_seed + i}: {e.Message}\n{json}", e);
            }
        }
    }

    /// <summary>The negative control: a state that differs by one number, name or shared object is told apart.</summary>
    [Fact]
    public void State_ThatDiffers_IsToldApart()
    {
        var everything = new Everything { I4 = 5, Any = new Name("x") };
        everything.Next = everything.Any;
        string json = JsonOf(everything);
        var other = new Everything { I4 = 5, Any = new Name("x"), Next = new Name("x") };

        AssertIsState(json, everything);
        Assert.ThrowsAny<Exception>(() => AssertIsState(json, other));
        everything.I4 = 6;
        Assert.ThrowsAny<Exception>(() => AssertIsState(json, everything));
        string renamed = JsonOf(everything).Replace("\"I4\"", "\"J4\"", StringComparison.Ordinal);
        Assert.ThrowsAny<Exception>(() => AssertIsState(renamed, everything));
    }

    /// <summary>A chain of any length is shown: what would stand too deep stands behind the state.</summary>
    [Fact]
    public void State_OfALongChain_IsShown()
    {
        Mixed[] last = [];
        for (int i = 0; i < 4_000; i++) last = [new Mixed { Text = "link", Object = last }];

        AssertIsState(JsonOf(last), last);
    }

    /// <summary>Packed collections are shown as others are, and bytes as bytes wherever they stand.</summary>
    [Fact]
    public void Collections_OfNumbersOrStructs_AreShownByTheirElements()
    {
        var place = new Place(1, 2, Mood.Sad, 4.5);
        object[] state =
        [
            new List<byte> { 1, 255 }, new Queue<Mood>([Mood.Glad]), new Dictionary<Mood, Place> { [Mood.Glad] = place },
            new Dictionary<Place, int> { [place] = 7 }, new SortedList<long, bool> { [-3] = true },
        ];
        const string Shown = """{"Floor":1,"Room":2,"Mood":"Sad","Height":4.5}""";

        Assert.Equal(
            "{\"root\":[{\"$bytes\":\"01ff\"},[\"Glad\"],{\"Glad\":" + Shown + "},[[" + Shown + ",7]],{\"-3\":true}]}",
            JsonOf(state));
    }

    [Fact]
    public void Image_WithBytesBehindItsEnd_IsRefused()
    {
        FakeCoordinator coordinator = Started<Counter>();
        coordinator.Deliver(Mark());
        Shown(coordinator.Image);

        ImageException refused = Assert.Throws<ImageException>(() => Shown([.. coordinator.Image, 0]));
        Assert.Contains("1 bytes behind the end", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Image_Whole_HasStateAndSession()
    {
        FakeCoordinator coordinator = Started<Vault>();
        coordinator.Deliver(Fork(1, 3), Mark());
        JsonElement shown = Shown(coordinator.Image);

        Assert.Equal("ckpt.1", shown.GetProperty("checkpoint").GetString());
        Assert.Equal("Ambrosia.Binding.Tests.Vault", shown.GetProperty("state").GetProperty("$type").GetString());
        Assert.Equal("other", shown.GetProperty("state").GetProperty("Other").GetProperty("$instance").GetString());
        Assert.Equal(1, shown.GetProperty("session").GetProperty("NextCall").GetInt32());
        Assert.Equal(["bank2", "bank3"],
            shown.GetProperty("session").GetProperty("Origins").EnumerateArray().Select(static each => each.GetProperty("Name").GetString()));
    }

    /// <summary>A method that waits is shown by its name, with what its locals hold.</summary>
    [Fact]
    public void Image_WithSuspendedMethods_ShowsTheirLocals()
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.Deliver(Call(3, 7, "bank3", "ann"), Mark(bound: 1));
        string text = Shown(coordinator.Image).ToString();

        Assert.Contains("Ambrosia.Binding.Tests.Bank.", text, StringComparison.Ordinal);
        Assert.Contains("\"ann\"", text, StringComparison.Ordinal);
    }

    private static JsonElement Shown(byte[] image)
    {
        using LargeBuffer bytes = GraphBytes.Buffered(image);
        var json = new ArrayBufferWriter<byte>();
        StateJson.Write(bytes, ImageOrigin.Of("ckpt.1", new Lsn(1)), piece => json.Write(piece), isIndented: true);
        return JsonDocument.Parse(json.WrittenMemory).RootElement;
    }

    private static void AssertIsState(string json, object root)
    {
        using JsonDocument document = JsonDocument.Parse(json, new JsonDocumentOptions { MaxDepth = 1000 });
        new LiveState(document.RootElement).AssertIsRoot(root);
    }

    private static string JsonOf(object root)
    {
        using LargeBuffer read = GraphBytes.Buffered(GraphBytes.Written(root));
        var json = new ArrayBufferWriter<byte>();
        StateJson.WriteGraph(read, piece => json.Write(piece));
        return Encoding.UTF8.GetString(json.WrittenSpan);
    }
}
