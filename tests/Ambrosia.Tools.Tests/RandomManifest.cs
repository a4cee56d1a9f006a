using System.Text.Json.Nodes;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Tools.Tests;

/// <summary>Makes valid contract manifests by chance: every kind of type, ids that are given and computed, defaults and flags.</summary>
internal static class RandomManifest
{
    private static readonly (string Type, string Default)[] s_plain =
    [
        ("bool", "f5"), ("int8", "20"), ("int64", "1b7fffffffffffffff"), ("uint16", "19ffff"), ("float64", "f93e00"), ("text", "6161"),
        ("bytes", "40"), ("timespan", "00"), ("date", "00"), ("datetime", "820000"),
    ];

    public static JsonObject Make(ulong seed)
    {
        var random = new SimulatedRandom(seed);
        int types = random.Next(1, 4);
        var all = new List<string> { "enum<T.E,int16>", "union<T.U>" };
        for (int i = 0; i < types; i++) all.Add($"data<T.D{i}>");
        return new JsonObject
        {
            ["format"] = 1,
            ["assembly"] = "T",
            ["contracts"] = new JsonArray([.. Enumerable.Range(0, random.Next(1, 4)).Select(i => Contract(random, all, $"I{i}"))]),
            ["data"] = new JsonArray([.. Enumerable.Range(0, types).Select(i => Data(random, all, $"T.D{i}"))]),
            ["enums"] = new JsonArray(new JsonObject
            {
                ["name"] = "T.E", ["type"] = "int16",
                ["members"] = new JsonArray([.. Enumerable.Range(0, random.Next(5)).Select(i =>
                    new JsonObject { ["name"] = $"M{i}", ["value"] = random.Next(short.MinValue, short.MaxValue) })]),
            }),
            ["unions"] = new JsonArray(new JsonObject
            {
                ["name"] = "T.U",
                ["cases"] = new JsonArray([.. Enumerable.Range(0, types).Select(i =>
                    new JsonObject { ["number"] = i * 3, ["type"] = $"data<T.D{i}>" })]),
            }),
        };
    }

    /// <summary>Removes a method of the first contract, which has one by which it stays known.</summary>
    public static void RemoveMethod(JsonObject manifest, ulong seed)
    {
        JsonArray methods = manifest["contracts"]![0]!["methods"]!.AsArray();
        methods.RemoveAt(new SimulatedRandom(seed).Next(methods.Count));
    }

    private static JsonObject Contract(SimulatedRandom random, List<string> types, string name) => new()
    {
        ["name"] = name,
        ["namespace"] = "T",
        ["methods"] = new JsonArray([.. Enumerable.Range(0, random.Next(1, 6)).Select(i => Method(random, types, name, i))]),
    };

    private static JsonObject Method(SimulatedRandom random, List<string> types, string contract, int number)
    {
        string name = $"M{number}";
        var method = new JsonObject { ["name"] = name, ["id"] = random.Next(2) == 0 ? (uint)number + 1 : MethodIds.Of(contract, name) };
        if (random.Next(4) == 0) method[random.Next(2) == 0 ? "impulse" : "query"] = true;
        var parameters = new JsonArray();
        for (int i = random.Next(4); i > 0; i--) parameters.Add(new JsonObject { ["name"] = $"p{i}", ["type"] = Type(random, types, 0) });
        if (random.Next(2) == 0)
        {
            (string type, string value) = s_plain[random.Next(s_plain.Length)];
            parameters.Add(new JsonObject { ["name"] = "last", ["type"] = type, ["optional"] = true, ["default"] = value });
        }
        method["parameters"] = parameters;
        if (random.Next(2) == 0) method["result"] = Type(random, types, 0);
        return method;
    }

    private static JsonObject Data(SimulatedRandom random, List<string> types, string name) => new()
    {
        ["name"] = name,
        ["fields"] = new JsonArray([.. Enumerable.Range(0, random.Next(5)).Select(i =>
        {
            var field = new JsonObject { ["name"] = $"F{i}" };
            if (random.Next(2) == 0) field["number"] = i;
            field["type"] = Type(random, types, 0);
            return field;
        })]),
    };

    private static string Type(SimulatedRandom random, List<string> types, int depth)
    {
        string Inner() => Type(random, types, depth + 1);
        string type = random.Next(depth < 3 ? 6 : 3) switch
        {
            0 => types[random.Next(types.Count)],
            3 => $"list<{Inner()}>",
            4 => $"map<{Inner()},{Inner()}>",
            5 => $"tuple<{Inner()},{Inner()}>",
            _ => s_plain[random.Next(s_plain.Length)].Type,
        };
        return random.Next(3) == 0 ? type + "?" : type;
    }
}
