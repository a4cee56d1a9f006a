using System.Buffers;
using System.Text;
using System.Text.Json;
using Ambrosia.Images.Json;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Protocol.Payloads;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>A path leads to what stands there, whatever the state is made of, and reads as it was written.</summary>
public sealed class ImagePathTests
{
    /// <summary>The steps that a random walk goes at most.</summary>
    private const int StepsMax = 12;

    private static readonly int s_seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int seed)
        ? seed : 20261123;

    [Fact]
    public void Path_ToAnyPlaceOfARandomState_LeadsThere()
    {
        int rounds = TestScale.Rounds(500), checkedPlaces = 0;
        for (int i = 0; i < rounds; i++)
        {
            using LargeBuffer graph = GraphBytes.Buffered(GraphBytes.Written(new RandomState(s_seed + i).Make()));
            var tree = ImageTree.ReadGraph(graph);
            using JsonDocument whole = JsonDocument.Parse(Whole(graph), new JsonDocumentOptions { MaxDepth = 1000 });
            var random = new Random(s_seed + i);
            for (int walk = 0; walk < 40; walk++) checkedPlaces += CheckWalk(tree, new ShownState(whole.RootElement), random, s_seed + i);
        }
        Assert.True(checkedPlaces > rounds * 10, $"{checkedPlaces} places");
    }

    /// <summary>Goes down at random; returns how many places the shown JSON has confirmed.</summary>
    private static int CheckWalk(ImageTree tree, ShownState shown, Random random, int seed)
    {
        ImageNode node = tree.State;
        ImagePath path = ImagePath.Root;
        JsonElement? expected = shown.Root;
        int confirmed = 0;
        for (int depth = 0; depth < StepsMax; depth++)
        {
            (PathStep Step, ImageNode Node)[] members = [.. node.Members()];
            if (members.Length == 0) break;
            int at = random.Next(members.Length);
            expected = expected is { } above ? shown.Below(above, members[at].Step, at) : null;
            (path, node) = (path.Then(members[at].Step), members[at].Node);
            string because = $"AMBROSIA_FUZZ_SEED={seed}: {path}";
            var again = ImagePath.Parse(path.ToString());
            Assert.True(TextsOf(again).SequenceEqual(TextsOf(path)), $"{because} is read as {again}");
            // Where two members have one name, the first is found.
            if (members.Count(each => each.Step.Text == members[at].Step.Text) > 1) break;
            ImageNode found = tree.Find(again);
            Assert.True(found.Kind == node.Kind && found.Text == node.Text && found.Id == node.Id, because);
            if (expected is not { } json) continue;
            confirmed++;
            Assert.True(shown.IsShown(json, node), $"{because} is {node.Kind} {node.Text} and shown as {json.GetRawText()}");
        }
        return confirmed;
    }

    /// <summary>A name with a dot is written as a key, so the kind of a step is not always the same.</summary>
    private static IEnumerable<string> TextsOf(ImagePath path) => path.Steps().Select(static step => step.Text);

    /// <summary>What is shown of the immortal by its path is what the command shows of it.</summary>
    [Fact]
    public void Json_OfTheWholeState_IsTheSameByItsPath()
    {
        for (int i = TestScale.Rounds(200); i > 0; i--)
        {
            using LargeBuffer graph = GraphBytes.Buffered(GraphBytes.Written(new RandomState(s_seed + i).Make()));
            string byPath = JsonAt(ImageTree.ReadGraph(graph), "$state");
            string expected = "{\"path\":\"$state\",\"value\":"
                + Whole(graph)["{\"root\":".Length..].Replace("{\"$ref\":\"root\"}", "{\"$ref\":\"value\"}", StringComparison.Ordinal);
            Assert.Equal(expected, byPath);
        }
    }

    [Theory]
    [InlineData("[0][1]", "255")]
    [InlineData("[1].Alice", "5")]
    [InlineData("[1][\"Alice\"]", "5")]
    [InlineData("[1]['a \"b\" \\\\ \\u00fc']", "6")]
    [InlineData("[2][-3]", "true")]
    [InlineData("[3][\"Glad\"].Room", "2")]
    [InlineData("[3][Glad].Mood", "\"Sad\"")]
    [InlineData("[4][\"red\"]", "\"red\"")]
    [InlineData("[5].$items[3]", "4")]
    [InlineData("[6].Text", "\"text\"")]
    [InlineData("[6][Text]", "\"text\"")]
    [InlineData("[7][{\"Floor\":1,\"Room\":2,\"Mood\":\"Sad\",\"Height\":4.5}]", "7")]
    [InlineData("$state[8]", "null")]
    public void Path_WrittenByHand_LeadsThere(string path, string expected)
    {
        var place = new Place(1, 2, Mood.Sad, 4.5);
        object?[] state =
        [
            new List<byte> { 1, 255 }, new Dictionary<string, int> { ["Alice"] = 5, ["a \"b\" \\ ü"] = 6 },
            new SortedList<long, bool> { [-3] = true }, new Dictionary<Mood, Place> { [Mood.Glad] = place }, new HashSet<string> { "red" },
            new[,] { { 1, 2 }, { 3, 4 } }, new Mixed { Text = "text" }, new Dictionary<Place, int> { [place] = 7 }, null,
        ];
        using LargeBuffer graph = GraphBytes.Buffered(GraphBytes.Written(state));
        Assert.Equal(expected, ImageTree.ReadGraph(graph).Find(ImagePath.Parse(path)).Text);
    }

    [Theory]
    [InlineData("", "it is empty")]
    [InlineData("a..b", "a name is missing there")]
    [InlineData("a.", "a name is missing there")]
    [InlineData("a[", "a number or a key is missing there")]
    [InlineData("a[]", "a number or a key is missing there")]
    [InlineData("a[\"b]", "the closing quote is missing")]
    [InlineData("a[1", "a closing bracket is missing there")]
    [InlineData("a[1]b", "a dot or a bracket is missing there")]
    [InlineData("a[\"\\u12\"]", "four hexadecimal digits are missing there")]
    [InlineData("a b", "a dot or a bracket is missing there")]
    public void Path_ThatIsNone_IsRefusedWithWhy(string path, string why) =>
        Assert.Contains(why, Assert.Throws<ImagePathException>(() => ImagePath.Parse(path)).Message, StringComparison.Ordinal);

    [Fact]
    public void Path_ToNothing_NamesWhatIsThere()
    {
        object[] state = [new Mixed { Text = "text" }];
        using LargeBuffer graph = GraphBytes.Buffered(GraphBytes.Written(state));
        var tree = ImageTree.ReadGraph(graph);

        ImagePathException name = Assert.Throws<ImagePathException>(() => tree.Find(ImagePath.Parse("[0].text")));
        Assert.Equal("[0] has no 'text'", name.Message);
        Assert.Contains("Text", name.Names);
        ImagePathException below = Assert.Throws<ImagePathException>(() => tree.Find(ImagePath.Parse("[0].Text.Length")));
        Assert.Equal("[0].Text is \"text\", which has nothing below it", below.Message);
    }

    /// <summary>What several places refer to stands behind the value, as in the whole.</summary>
    [Fact]
    public void Json_OfAPlace_KeepsSharing()
    {
        var shared = new Name("x");
        object[] state = [new object[] { shared, shared, 5 }];
        using LargeBuffer graph = GraphBytes.Buffered(GraphBytes.Written(state));
        using JsonDocument shown = JsonDocument.Parse(JsonAt(ImageTree.ReadGraph(graph), "[0]"));

        JsonElement value = shown.RootElement.GetProperty("value");
        string number = value[0].GetProperty("$ref").GetRawText();
        Assert.Equal(number, value[1].GetProperty("$ref").GetRawText());
        Assert.True(shown.RootElement.GetProperty("objects").TryGetProperty(number, out _));
    }

    private static string JsonAt(ImageTree tree, string path)
    {
        var json = new ArrayBufferWriter<byte>();
        tree.WriteJson(ImagePath.Parse(path), null, piece => json.Write(piece), isIndented: false);
        return Encoding.UTF8.GetString(json.WrittenSpan);
    }

    private static string Whole(LargeBuffer graph)
    {
        var json = new ArrayBufferWriter<byte>();
        StateJson.WriteGraph(graph, piece => json.Write(piece));
        return Encoding.UTF8.GetString(json.WrittenSpan);
    }
}
