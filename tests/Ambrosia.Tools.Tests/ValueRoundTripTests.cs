using System.Buffers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol;

namespace Ambrosia.Tools.Tests;

/// <summary>
/// What a query shows can be typed in again: each value of protocol/vectors/contract.json as JSON, and that encoded, has the bytes of the
/// value. JSON has one NaN, so those with a payload or without a sign are left out.
/// </summary>
public sealed class ValueRoundTripTests
{
    private static string Vectors => Path.Combine(AppContext.BaseDirectory, "vectors");

    private static readonly ContractManifests s_contracts = ContractManifests.Load([Path.Combine(Vectors, "Vectors.contract.json")]);

    public static TheoryData<string, string, string> Values
    {
        get
        {
            var values = new TheoryData<string, string, string>();
            foreach (JsonNode? vector in JsonNode.Parse(File.ReadAllText(Path.Combine(Vectors, "contract.json")))!.AsArray())
            {
                string name = (string)vector!["name"]!;
                if ((string?)vector["structure"] != "value" || name.Contains("NaN", StringComparison.Ordinal)) continue;
                if (vector["expect"] is { } expected)
                    values.Add(name, (string)vector["context"]!["type"]!, (string)expected["again"]!);
            }
            return values;
        }
    }

    [Theory]
    [MemberData(nameof(Values))]
    public void Value_ShownAndTypedIn_IsTheSame(string name, string type, string hex)
    {
        SchemaType schema = SchemaType.Parse(type)!;
        var from = new CborReader(Convert.FromHexString(hex));
        string shown = new ValueJson(s_contracts).Next(ref from, schema)?.ToJsonString() ?? "null";
        using JsonDocument typed = JsonDocument.Parse(shown, new JsonDocumentOptions { MaxDepth = 1_000 });
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        new ValueEncoder(s_contracts).Write(ref to, typed.RootElement, schema, "value");
        to.Flush();
        string again = Convert.ToHexStringLower(bytes.WrittenSpan);
        Assert.True(hex == again, $"{name}: {shown} gives {again} for {hex}");
    }

    [Fact]
    public void Vectors_OfValues_AreMany() => Assert.True(Values.Count() > 35);
}
