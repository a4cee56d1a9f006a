using System.Buffers;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests.Vectors;

/// <summary>
/// Generated codecs against protocol/vectors/contract.json: what is read and written again are the bytes that the vector says, and what is
/// refused is refused as it says; cut anywhere, it is refused by type.
/// </summary>
public sealed class ContractVectorTests
{
    private delegate byte[] Again(byte[] value);

    private static readonly JsonNode[] s_vectors =
    [
        .. JsonNode.Parse(File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "vectors", "contract.json")))!.AsArray()
            .OfType<JsonNode>().Where(static vector => (string?)vector["structure"] == "value"),
    ];

    private static readonly Dictionary<string, Again> s_types = new()
    {
        ["data<Vectors.Point>"] = Through(
            static (ref from) => PointDataCodec.Read(ref from), static (ref to, v) => PointDataCodec.Write(ref to, v)),
        ["data<Vectors.Place>"] = Through(
            static (ref from) => PlaceDataCodec.Read(ref from), static (ref to, v) => PlaceDataCodec.Write(ref to, v)),
        ["data<Vectors.Reals>"] = Through(
            static (ref from) => RealsDataCodec.Read(ref from), static (ref to, v) => RealsDataCodec.Write(ref to, v)),
        ["data<Vectors.Words>"] = Through(
            static (ref from) => WordsDataCodec.Read(ref from), static (ref to, v) => WordsDataCodec.Write(ref to, v)),
        ["data<Vectors.Times>"] = Through(
            static (ref from) => TimesDataCodec.Read(ref from), static (ref to, v) => TimesDataCodec.Write(ref to, v)),
        ["data<Vectors.Order>"] = Through(
            static (ref from) => OrderDataCodec.Read(ref from), static (ref to, v) => OrderDataCodec.Write(ref to, v)),
        ["data<Vectors.Tree>"] = Through(
            static (ref from) => TreeDataCodec.Read(ref from), static (ref to, v) => TreeDataCodec.Write(ref to, v)),
    };

    private delegate T Reading<out T>(ref CborReader from);

    private delegate void Writing<in T>(ref CborWriter to, T value);

    [Fact]
    public void Vectors_OfContracts_AreReadAsTheySay()
    {
        var findings = new List<string>();
        foreach (JsonNode vector in s_vectors)
        {
            string expected = (string?)vector["error"] ?? (string)vector["expect"]!["again"]!;
            string found = Outcome(vector, BytesOf(vector));
            if (found != expected) findings.Add($"{vector["name"]}: {found}, expected {expected}");
        }
        Assert.True(findings.Count == 0, string.Join('\n', findings));
        Assert.Equal(s_types.Keys.Order(StringComparer.Ordinal),
            s_vectors.Select(static vector => TypeOf(vector)).Distinct().Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Vectors_OfContractsCutAnywhere_AreRefusedByType()
    {
        var findings = new List<string>();
        foreach (JsonNode vector in s_vectors)
        {
            byte[] bytes = BytesOf(vector);
            for (int length = 0; length < bytes.Length; length++)
            {
                string found = Outcome(vector, bytes[..length]);
                bool isTyped = Enum.TryParse<CborError>(found, out _) || found == (string?)vector["error"];
                if (!isTyped) findings.Add($"{vector["name"]} cut at {length}: {found}");
            }
        }
        Assert.True(findings.Count == 0, string.Join('\n', findings));
    }

    private static string Outcome(JsonNode vector, byte[] bytes)
    {
        try
        {
            return Convert.ToHexStringLower(s_types[TypeOf(vector)](bytes));
        }
        catch (CborException error)
        {
            return error.Error.ToString();
        }
        catch (UnknownCaseException unknown)
        {
            // The vectors' types stand in another namespace here.
            return $"UnknownCase {unknown.Union.Replace("Ambrosia.Binding.Tests.", "", StringComparison.Ordinal)} {unknown.Number}";
        }
    }

    private static string TypeOf(JsonNode vector) => (string)vector["context"]!["type"]!;

    private static byte[] BytesOf(JsonNode vector) => Convert.FromHexString((string)vector["hex"]!);

    private static Again Through<T>(Reading<T> read, Writing<T> write) => bytes =>
    {
        var from = new CborReader(bytes);
        T value = read(ref from);
        Assert.True(from.AtEnd, "items are left");
        var again = new ArrayBufferWriter<byte>();
        var to = new CborWriter(again);
        write(ref to, value);
        to.Flush();
        return again.WrittenSpan.ToArray();
    };
}
