using System.Text.Json.Nodes;
using Ambrosia.Protocol.Tests;

namespace Conformance;

/// <summary>Prints what the binding reads in a file of vectors, one line for each.</summary>
internal static class Vectors
{
    internal static int Print(string path)
    {
        foreach (JsonNode? entry in JsonNode.Parse(File.ReadAllBytes(path))!.AsArray())
            Console.WriteLine(Read(entry!.AsObject()).ToJsonString());
        return 0;
    }

    private static JsonObject Read(JsonObject entry)
    {
        if (!AllStructures.ByName.TryGetValue((string)entry["structure"]!, out Structure? structure))
            return new JsonObject { ["skip"] = "the binding does not read it here" };
        JsonObject context = entry["context"]?.AsObject() ?? [];
        byte[] bytes = Convert.FromHexString((string)entry["hex"]!);
        if (context["zeros"] is { } zeros) bytes = [.. bytes, .. new byte[(int)zeros]];
        Outcome outcome = Outcome.Of(structure, bytes, context);
        if (outcome.Fault is not null) throw new InvalidDataException(outcome.Fault);
        return outcome.Error is { } error ? new JsonObject { ["error"] = error } : new JsonObject { ["expect"] = outcome.Fields };
    }
}
