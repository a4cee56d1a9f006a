using System.Buffers;
using System.Text.Json.Nodes;
using Ambrosia.Images.Comparison;
using Ambrosia.Images.Json;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Tools.Tests;

/// <summary>
/// Walks protocol/vectors/image.json: every good image is shown as it states, whole only; every bad one is refused. A program that shares
/// no code with the reader has written them.
/// </summary>
public sealed class ImageVectorTests
{
    private static readonly JsonArray s_vectors =
        JsonNode.Parse(File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "vectors", "image.json")))!.AsArray();

    public static TheoryData<string> Names => [.. s_vectors.Select(static each => (string)each!["name"]!)];

    [Theory]
    [MemberData(nameof(Names))]
    public void Image_OfAVector_IsShownOrRefused(string name)
    {
        JsonNode vector = s_vectors.Single(each => (string)each!["name"]! == name)!;
        byte[] image = Convert.FromHexString((string)vector["hex"]!);
        if (vector["expect"] is not { } expected)
        {
            Assert.Throws<ImageException>(() => Shown(image));
            return;
        }
        JsonObject shown = JsonNode.Parse(Shown(image))!.AsObject();
        shown.Remove("checkpoint");
        shown.Remove("lsn");
        Assert.True(JsonNode.DeepEquals(expected, shown), $"{name}: {shown.ToJsonString()}");
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Image_OfAVectorCutAnywhere_IsRefused(string name)
    {
        JsonNode vector = s_vectors.Single(each => (string)each!["name"]! == name)!;
        byte[] image = Convert.FromHexString((string)vector["hex"]!);
        for (int length = 0; length < image.Length; length++)
        {
            // What stands behind a whole image is the one thing that a cut can mend.
            if (length == image.Length - 1 && name == "a byte too many") continue;
            Assert.Throws<ImageException>(() => Shown(image[..length]));
        }
    }

    /// <summary>Every place of a portable image is found by its path too, and the immortal's is shown as it is in the whole.</summary>
    [Theory]
    [MemberData(nameof(Names))]
    public void Image_OfAVector_IsFoundByPath(string name)
    {
        JsonNode vector = s_vectors.Single(each => (string)each!["name"]! == name)!;
        if (vector["expect"] is not { } expected) return; // refused, as the other test sees
        using var bytes = new LargeBuffer();
        bytes.Append(Convert.FromHexString((string)vector["hex"]!));
        var tree = ImageTree.Read(bytes);
        var json = new ArrayBufferWriter<byte>();
        tree.WriteJson(ImagePath.Root, null, piece => json.Write(piece), isIndented: false);
        JsonNode shown = JsonNode.Parse(json.WrittenSpan)!;
        Assert.True(JsonNode.DeepEquals(expected["state"], shown["value"]), shown.ToJsonString());
        ImagePath session = ImagePath.Root.Then(PathStep.Name(ImagePath.SessionWord));
        foreach ((ImagePath path, ImageNode root) in new[] { (ImagePath.Root, tree.State), (session, tree.Session) })
            foreach ((PathStep step, ImageNode node) in root.Members())
                Assert.Equal(node.Text, tree.Find(ImagePath.Parse(path.Then(step).ToString())).Text);
        Assert.True(ImageComparison.Of(tree, tree, 1).AreNone);
    }

    private static byte[] Shown(byte[] image)
    {
        using var bytes = new LargeBuffer();
        bytes.Append(image);
        var json = new ArrayBufferWriter<byte>();
        StateJson.Write(bytes, ImageOrigin.Of("ckpt", new Lsn(1)), piece => json.Write(piece), isIndented: false);
        return json.WrittenSpan.ToArray();
    }
}
