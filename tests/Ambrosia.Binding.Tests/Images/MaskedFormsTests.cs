using System.Text;
using Ambrosia.Images.Masking;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>A masked text is found in every form that a state can hold it in: it is replaced there, or the place is listed.</summary>
public sealed class MaskedFormsTests
{
    private const string Secret = "hunter2SECRETpw";

    /// <summary>Each form of a text with the way back, and whether it is replaced.</summary>
    private static readonly (string Name, Func<string, object> Make, Func<object, string> Text)[] s_replaced =
    [
        ("text", static s => s, static o => (string)o),
        ("part of a text", static s => $"<<{s}>>", static o => ((string)o)[2..^2]),
        ("text with half a surrogate", static s => $"\ud83d{s}\udc00", static o => ((string)o)[1..^1]),
        ("char[]", static s => s.ToCharArray(), static o => new string((char[])o)),
        ("List<char>", static s => s.ToList(), static o => new string([.. (List<char>)o])),
        ("part of List<char>", static s => $"ab{s}cd".ToList(), static o => new string([.. (List<char>)o])[2..^2]),
        ("ushort[]", static s => s.Select(static c => (ushort)c).ToArray(),
            static o => new string([.. ((ushort[])o).Select(static c => (char)c)])),
        ("int[]", static s => s.Select(static c => (int)c).ToArray(), static o => new string([.. ((int[])o).Select(static c => (char)c)])),
        ("List<int>", static s => s.Select(static c => (int)c).ToList(),
            static o => new string([.. ((List<int>)o).Select(static c => (char)c)])),
        ("UTF-8", static s => Encoding.UTF8.GetBytes(s), static o => Encoding.UTF8.GetString((byte[])o)),
        ("UTF-16", static s => Encoding.Unicode.GetBytes(s), static o => Encoding.Unicode.GetString((byte[])o)),
        ("UTF-16, the other order", static s => Encoding.BigEndianUnicode.GetBytes(s),
            static o => Encoding.BigEndianUnicode.GetString((byte[])o)),
        ("UTF-16 within bytes", static s => (byte[])[7, .. Encoding.Unicode.GetBytes(s), 9, 9],
            static o => Encoding.Unicode.GetString(((byte[])o)[1..^2])),
        ("base64", static s => Convert.ToBase64String(Encoding.UTF8.GetBytes(s)),
            static o => Encoding.UTF8.GetString(Convert.FromBase64String((string)o))),
        ("base64 within", static s => Convert.ToBase64String(Encoding.UTF8.GetBytes("1" + s + "23")),
            static o => Encoding.UTF8.GetString(Convert.FromBase64String((string)o))[1..^2]),
        ("base64 of more", static s => Convert.ToBase64String(Encoding.UTF8.GetBytes("12" + s)),
            static o => Encoding.UTF8.GetString(Convert.FromBase64String((string)o))[2..]),
        ("base64 of UTF-16", static s => Convert.ToBase64String(Encoding.Unicode.GetBytes(s)),
            static o => Encoding.Unicode.GetString(Convert.FromBase64String((string)o))),
        ("Basic authentication", static s => "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes("ada:" + s)),
            static o => Encoding.UTF8.GetString(Convert.FromBase64String(((string)o)[6..]))[4..]),
        ("hexadecimal", static s => Convert.ToHexString(Encoding.UTF8.GetBytes(s)),
            static o => Encoding.UTF8.GetString(Convert.FromHexString((string)o))),
        ("small hexadecimal", static s => Convert.ToHexStringLower(Encoding.UTF8.GetBytes(s)),
            static o => Encoding.UTF8.GetString(Convert.FromHexString((string)o))),
        ("hexadecimal as bytes", static s => Encoding.UTF8.GetBytes(Convert.ToHexString(Encoding.UTF8.GetBytes(s))),
            static o => Encoding.UTF8.GetString(Convert.FromHexString(Encoding.UTF8.GetString((byte[])o)))),
        ("key of a map", static s => new Dictionary<string, int> { [s] = 1 }, static o => ((Dictionary<string, int>)o).Keys.Single()),
    ];

    private static readonly (string Name, Func<string, object> Make)[] s_listed =
    [
        ("capital letters", static s => s.ToUpperInvariant()),
        ("small letters", static s => $"it is {s.ToLowerInvariant()}"),
        ("backwards", static s => new string([.. s.Reverse()])),
        ("capital characters", static s => s.ToUpperInvariant().ToCharArray()),
        ("JSON", static s => $"{{\"pw\":{System.Text.Json.JsonSerializer.Serialize(s)}}}"),
        ("URL", static s => $"?pw={Uri.EscapeDataString(s)}"),
    ];

    public static TheoryData<string> Replaced => [.. s_replaced.Select(static form => form.Name)];

    public static TheoryData<string> Listed => [.. s_listed.Select(static form => form.Name)];

    [Theory]
    [MemberData(nameof(Replaced))]
    public void Secret_InAnotherForm_IsReplaced(string name)
    {
        (_, Func<string, object> make, Func<object, string> text) = s_replaced.Single(form => form.Name == name);
        (Everything masked, MaskRules rules) = Masked(Secret, make(Secret));
        string other = text(masked.Next!);
        Assert.Equal(masked.Text, other);
        Assert.NotEqual(Secret, other);
        Assert.Equal(0, rules.Names.Sum(static place => place.Turned));
    }

    [Theory]
    [MemberData(nameof(Listed))]
    public void Secret_InAFormThatIsNotReplaced_IsListed(string name)
    {
        (_, Func<string, object> make) = s_listed.Single(form => form.Name == name);
        string secret = name is "JSON" or "URL" ? "pass\"wörd & 9" : Secret;
        (_, MaskRules rules) = Masked(secret, make(secret));
        Assert.Contains(rules.Names, static place => place.Turned > 0 && place.Label.EndsWith("next", StringComparison.OrdinalIgnoreCase));
    }

    /// <summary>The negative control: what has nothing of the secret is as it was, and is not listed.</summary>
    [Theory]
    [MemberData(nameof(Replaced))]
    public void OtherText_InEachForm_IsLeft(string name)
    {
        const string Other = "nothing of it here";
        (_, Func<string, object> make, Func<object, string> text) = s_replaced.Single(form => form.Name == name);
        (Everything masked, MaskRules rules) = Masked(Secret, make(Other));
        Assert.Equal(Other, text(masked.Next!));
        Assert.Equal(0, rules.Names.Sum(static place => place.Turned));
    }

    /// <summary>The rule may name the characters, and the text is found elsewhere.</summary>
    [Fact]
    public void Secret_NamedAsCharacters_IsReplacedAsAText()
    {
        var state = new Everything { Text = Secret, Next = Secret.ToCharArray() };
        var rules = new MaskRules(["Everything.Next"]);
        var masked = (Everything)GraphBytes.Read(Run(GraphBytes.Written(state), rules));
        Assert.NotEqual(Secret, masked.Text);
        Assert.Equal(masked.Text, new string((char[])masked.Next!));
    }

    private static (Everything Masked, MaskRules Rules) Masked(string secret, object form)
    {
        var rules = new MaskRules(["Everything.text"]);
        byte[] after = Run(GraphBytes.Written(new Everything { Text = secret, Next = form }), rules);
        return ((Everything)GraphBytes.Read(after), rules);
    }

    private static byte[] Run(byte[] graph, MaskRules rules)
    {
        using var shuffle = new NumberShuffle([.. Enumerable.Range(1, 16).Select(static each => (byte)each)]);
        var masker = new ValueMasker(rules, new MaskedTexts([1, 2, 3]), new MaskedNumbers(shuffle));
        using LargeBuffer bytes = GraphBytes.Buffered(graph);
        foreach (bool isLearning in new[] { true, false })
        {
            masker.IsLearning = isLearning;
            new ObjectMasking(CSharpImage.ReadGraph(bytes), masker, new NoPayloads()).RunGraph(masker.Rules.Of("", "state"), 0);
        }
        return bytes.From(0).ToArray();
    }

    private sealed class NoPayloads : IPayloadMasking
    {
        public void Key(Span<byte> key) => throw new InvalidOperationException();

        public void Arguments(uint? method, Span<byte> content) => throw new InvalidOperationException();

        public void Answer(uint method, bool isFailure, Span<byte> content) => throw new InvalidOperationException();

        public ulong HashOf(uint method, ReadOnlySpan<byte> key, ulong hash) => throw new InvalidOperationException();
    }
}
