using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Images.Json;
using Ambrosia.Images.Masking;
using Ambrosia.Images.Reading;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Masking;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

/// <summary>A masked cut of a log has the same records at the same places, which decode, and none of the values that were masked.</summary>
public sealed class CutMaskingTests : IDisposable
{
    private const string Rules = "name,nick,bytes,content,map.keys,Order.name,Answer.result,$key,$failure,$task";

    /// <summary>Values that are nested as deep as a contract allows are longer; those are masked as one byte string.</summary>
    private const int NestedBytesMax = 500;

    private static readonly ulong s_seed =
        ulong.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out ulong seed) ? seed : 20261125;

    private readonly TemporaryDirectory _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Cut_OfARandomLog_HasItsFormAndNoneOfItsSecrets()
    {
        int rounds = TestScale.Rounds(20);
        for (int i = 0; i < rounds; i++)
        {
            ulong seed = s_seed + (ulong)i;
            string log = _temporary.Of($"log{i}"), cut = _temporary.Of($"cut{i}");
            SecretLog.Make(log, seed);
            ToolRun run = ToolRun.Of("cut", log, "--around", "end", "--out", cut, "--mask", Rules, "--json");
            Assert.True(run.Code == ToolExit.Fine, $"AMBROSIA_FUZZ_SEED={seed}: {run.Output}{run.Error}");
            AssertHasNoSecret(cut, seed);
            ToolRun verified = ToolRun.Of("verify", cut);
            Assert.True(verified.Code == ToolExit.Fine, $"AMBROSIA_FUZZ_SEED={seed}: {verified.Output}");
            Assert.Equal(Forms(log), Forms(cut));
            AssertNamesAreTheSameWhereTheyWere(log, cut, seed);
            Assert.True(run.Json.GetProperty("mask").GetProperty("left").TryGetProperty("IShop.Two.second", out _), run.Output);
        }
    }

    /// <summary>The negative control: without a rule, or with one for something else, the secrets are there.</summary>
    [Theory]
    [InlineData(null)]
    [InlineData("price,pair")]
    public void Cut_WithoutTheRules_HasTheSecrets(string? rules)
    {
        string log = _temporary.Of("log"), cut = _temporary.Of("cut");
        SecretLog.Make(log, s_seed);
        string[] mask = rules is null ? [] : ["--mask", rules];
        Assert.Equal(ToolExit.Fine, ToolRun.Of(["cut", log, "--around", "end", "--out", cut, .. mask]).Code);
        Assert.ThrowsAny<Exception>(() => AssertHasNoSecret(cut, s_seed));
    }

    /// <summary>
    /// A secret that a rule names is replaced where the same stands under no name, as in a method that no contract knows.
    /// </summary>
    [Fact]
    public void Cut_MaskedByOneName_HasThatValueNowhere()
    {
        string log = _temporary.Of("log"), cut = _temporary.Of("cut");
        SecretLog.Make(log, s_seed);
        ToolRun run = ToolRun.Of("cut", log, "--around", "end", "--out", cut, "--mask", "IShop.Everything.name", "--json");
        Assert.Equal(ToolExit.Fine, run.Code);
        string[] names = [.. Texts(log, "name").Distinct().Where(static each => each.Length >= MaskedTexts.WithinBytesMin)];
        Assert.NotEmpty(names);
        foreach (string file in Directory.EnumerateFiles(cut))
            foreach (string name in names)
                Assert.True(File.ReadAllBytes(file).AsSpan().IndexOf(Encoding.UTF8.GetBytes(name)) < 0, $"{file} has {name}");
        Assert.True(run.Json.GetProperty("mask").GetProperty("elsewhere").EnumerateObject().Any(), run.Output);
    }

    /// <summary>An argument's form of a masked text is replaced, or is listed, and then the cut is no success.</summary>
    [Theory]
    [InlineData("S3CRET OF A", true)]
    [InlineData("A fo terc3s", true)]
    [InlineData("s3cret%20of%20A", true)]
    [InlineData("czNjcmV0IG9mIEE=", false)] // base64
    [InlineData("733363726574206f662041", false)] // hexadecimal
    [InlineData("nothing of it", false)]
    public void Cut_OfAnArgumentWithAnotherForm_ReplacesItOrListsItAndEndsWithOne(string form, bool isListed)
    {
        string log = _temporary.Of("log"), cut = _temporary.Of("cut");
        SecretLog.Make(log, s_seed, form);
        ToolRun run = ToolRun.Of("cut", log, "--around", "end", "--out", cut, "--mask", Rules, "--json");
        Assert.Equal(isListed ? ToolExit.Damage : ToolExit.Fine, run.Code);
        Assert.Equal(isListed, run.Json.GetProperty("mask").GetProperty("notMasked").EnumerateObject().Any());
        byte[] bytes = Encoding.UTF8.GetBytes(form);
        bool isThere = Directory.EnumerateFiles(cut).Any(file => File.ReadAllBytes(file).AsSpan().IndexOf(bytes) >= 0);
        Assert.Equal(isListed || form == "nothing of it", isThere);
    }

    /// <summary>Characters, or their codes, that a contract lists one by one are a text like any other.</summary>
    [Theory]
    [InlineData("list<char>")]
    [InlineData("list<uint16>")]
    [InlineData("list<int32>")]
    public void Text_AsCharactersOfAContract_IsReplaced(string type)
    {
        var contracts = ContractManifests.Load([]);
        using var shuffle = new NumberShuffle(new byte[16]);
        var masker = new ValueMasker(new MaskRules(["value"]), new MaskedTexts([7]), new MaskedNumbers(shuffle));
        byte[] text = Cbor(static (ref CborWriter to) => to.WriteString("hunter2"));
        byte[] characters = Cbor(static (ref CborWriter to) =>
        {
            to.WriteArrayHeader(7);
            foreach (char each in "hunter2") to.WriteUInt64(each);
        });
        foreach (bool isLearning in new[] { true, false })
        {
            masker.IsLearning = isLearning;
            var masking = new TypedMasking(contracts, masker);
            masking.Mask(text, SchemaType.Parse("string")!, masker.Rules.Of("", "value"));
            masking.Mask(characters, SchemaType.Parse(type)!, masker.Rules.Of("", "other"));
        }
        string masked = new CborReader(text).ReadString();
        var from = new CborReader(characters);
        Assert.Equal(7, from.ReadArrayHeader());
        foreach (char each in masked) Assert.Equal(each, (char)from.ReadUInt64());
        Assert.NotEqual("hunter2", masked);
    }

    private delegate void Writing(ref CborWriter to);

    private static byte[] Cbor(Writing write)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        write(ref to);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    [Theory]
    [InlineData("nmae", "IShop.Everything.name")]
    [InlineData("name,IShop.Everything.prise", "IShop.Everything.price")]
    public void Rule_ThatNamesNothing_IsRefusedWithWhatIsNear(string rules, string near)
    {
        string log = _temporary.Of("log"), cut = _temporary.Of("cut");
        SecretLog.Make(log, s_seed);
        ToolRun run = ToolRun.Of("cut", log, "--around", "end", "--out", cut, "--mask", rules);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains(near, run.Error, StringComparison.Ordinal);
        Assert.False(Directory.Exists(cut));
    }

    [Fact]
    public void Rules_InAFile_AreOneALine()
    {
        string log = _temporary.Of("log"), cut = _temporary.Of("cut"), rules = _temporary.Of("rules");
        SecretLog.Make(log, s_seed);
        File.WriteAllText(rules, "# who\nname\n\n nick \n");
        ToolRun run = ToolRun.Of("cut", log, "--around", "end", "--out", cut, "--mask", $"@{rules}", "--json");
        Assert.True(run.Code == ToolExit.Fine, run.Error);
        Assert.Equal(["name", "nick"],
            JsonNode.Parse(File.ReadAllBytes(Path.Combine(cut, "cut.json")))!["masked"]!.AsArray().Select(static each => (string)each!));
    }

    /// <summary>Every value that a contract can have is another of its type and length, the same wherever it is the same.</summary>
    [Fact]
    public void Value_OfEveryType_IsAnotherOfItsType()
    {
        string vectors = Path.Combine(AppContext.BaseDirectory, "vectors");
        ContractManifests contracts = ContractManifests.Load([Path.Combine(vectors, "Vectors.contract.json")]);
        int masked = 0;
        foreach (JsonNode? vector in JsonNode.Parse(File.ReadAllText(Path.Combine(vectors, "contract.json")))!.AsArray())
        {
            if ((string?)vector!["structure"] != "value" || vector["expect"] is not { } expected) continue;
            SchemaType type = SchemaType.Parse((string)vector["context"]!["type"]!)!;
            byte[] before = Convert.FromHexString((string)expected["again"]!);
            if (before.Length > NestedBytesMax) continue;
            byte[] after = Masked(contracts, before, type);
            Assert.Equal(before.Length, after.Length);
            Assert.Equal(after, Masked(contracts, before, type));
            var from = new CborReader(after);
            string shown = new Inspection.Decoding.ValueJson(contracts).Next(ref from, type)?.ToJsonString() ?? "null";
            using JsonDocument typed = JsonDocument.Parse(shown, new JsonDocumentOptions { MaxDepth = 1_000 });
            var bytes = new ArrayBufferWriter<byte>();
            var to = new CborWriter(bytes);
            if (!shown.Contains("NaN", StringComparison.Ordinal))
                new ValueEncoder(contracts).Write(ref to, typed.RootElement, type, "value");
            to.Flush();
            if (bytes.WrittenCount > 0)
                Assert.True(bytes.WrittenSpan.SequenceEqual(after), $"{vector["name"]}: {shown} of {Convert.ToHexString(after)}");
            if (!after.AsSpan().SequenceEqual(before)) masked++;
        }
        Assert.True(masked > 20, $"{masked} values were masked");
    }

    /// <summary>A portable image stays one that is read; one in which flows wait is refused.</summary>
    [Fact]
    public void PortableImage_Masked_IsStillRead()
    {
        int read = 0, refused = 0;
        byte[] json = File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "vectors", "image.json"));
        foreach (JsonNode? vector in JsonNode.Parse(json)!.AsArray())
        {
            if (vector!["expect"] is not { } expected || (string?)expected["format"] != ImageFront.Portable) continue;
            byte[] before = Convert.FromHexString((string)vector["hex"]!);
            using var image = new LargeBuffer();
            image.Append(before);
            using var shuffle = new NumberShuffle(new byte[16]);
            var masker = new ValueMasker(new MaskRules(["state"]), new MaskedTexts([7]), new MaskedNumbers(shuffle));
            var payloads = new MessageMasking(ContractManifests.Load([]), masker);
            if ((string)vector["name"]! == "a flow that waits")
            {
                Assert.Throws<ImageException>(() => ImageMasking.Run(image, masker, payloads));
                refused++;
                continue;
            }
            foreach (bool isLearning in new[] { true, false })
            {
                masker.IsLearning = isLearning;
                ImageMasking.Run(image, masker, payloads);
            }
            Assert.Equal(before.Length, image.Length);
            StateJson.Write(image, default, static _ => { }, isIndented: false);
            if (!image.From(0).SequenceEqual(before)) read++;
        }
        Assert.True(read > 0 && refused == 1, $"{read} read, {refused} refused");
    }

    private static byte[] Masked(ContractManifests contracts, byte[] value, SchemaType type)
    {
        using var shuffle = new NumberShuffle(new byte[16]);
        var masker = new ValueMasker(new MaskRules(["value"]), new MaskedTexts([7]), new MaskedNumbers(shuffle));
        byte[] masked = [.. value];
        foreach (bool isLearning in new[] { true, false })
        {
            masker.IsLearning = isLearning;
            new TypedMasking(contracts, masker).Mask(masked, type, masker.Rules.Of("", "value"));
        }
        return masked;
    }

    private static void AssertHasNoSecret(string directory, ulong seed)
    {
        foreach (string file in Directory.EnumerateFiles(directory))
            Assert.True(File.ReadAllBytes(file).AsSpan().IndexOf(Encoding.UTF8.GetBytes(SecretLog.Secret)) < 0,
                $"AMBROSIA_FUZZ_SEED={seed}: {file} has a secret");
    }

    /// <summary>Place, kind and length of each record; digests and hashes of states say nothing in a masked cut.</summary>
    private static List<string> Forms(string directory)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.TryRead(files, directory)!;
        using LogScan scan = LogScan.Open(files, directory, identity);
        var forms = new List<string>();
        var records = new RecordAssembler();
        bool isCut = File.Exists(Path.Combine(directory, "cut.json"));
        while (scan.Next())
            records.Take(scan.Page, (lsn, kind, body, time, epoch) =>
            {
                forms.Add($"{lsn} {kind} {body.Length} {time} {epoch}");
                if (isCut && kind == RecordKind.Digest) AssertSaysNothing(DigestRecord.Read(body));
                if (isCut && kind == RecordKind.StateHash) Assert.Equal(new StateHashRecord(Lsn.Zero, 0), StateHashRecord.Read(body));
                return true;
            });
        return forms;
    }

    private static void AssertSaysNothing(DigestRecord digest)
    {
        Assert.Equal((Lsn.Zero, 0UL), (digest.Position, digest.Answers.Hash));
        Assert.All(digest.Entries, static each => Assert.Equal(0UL, each.Hash));
    }

    private static void AssertNamesAreTheSameWhereTheyWere(string log, string cut, ulong seed)
    {
        string[] before = [.. Texts(log, "name")], after = [.. Texts(cut, "name")];
        Assert.Equal(before.Length, after.Length);
        Assert.Equal(before.Distinct().Count(), before.Zip(after).Distinct().Count());
        Assert.Equal(before.Distinct().Count(), after.Distinct().Count());
        Assert.True(before.Zip(after).All(static pair => pair.First != pair.Second), $"AMBROSIA_FUZZ_SEED={seed}");
    }

    private static IEnumerable<string> Texts(string log, string argument)
    {
        foreach (JsonElement line in ToolRun.Of("log", log, "--records", "--json").JsonLines)
        {
            Assert.False(line.TryGetProperty("problem", out _), $"{line}");
            if (!line.TryGetProperty("arguments", out JsonElement arguments)) continue;
            foreach (JsonElement each in arguments.EnumerateArray())
                if (each.TryGetProperty("name", out JsonElement name) && name.GetString() == argument)
                    yield return each.GetProperty("value").GetString()!;
        }
    }
}
