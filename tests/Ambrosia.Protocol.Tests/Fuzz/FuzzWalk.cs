using System.Text.Json.Nodes;

namespace Ambrosia.Protocol.Tests;

/// <summary>
/// Random and damaged inputs against decoders. Findings: an exception that is not one of the typed ones, input that is accepted but not
/// written again as the same bytes, memory beyond a bound that grows with the input only.
/// </summary>
internal static class FuzzWalk
{
    /// <summary>An exception with its stack, and our own fields; the same for every input.</summary>
    private const long AllocatedBytesBase = 256 * 1024;

    /// <summary>JSON and hex of what was decoded are the largest part.</summary>
    private const long AllocatedBytesEach = 512;

    public static List<string> Mutants(
        IEnumerable<Vector> vectors, IReadOnlyDictionary<string, Structure> structures, int seed, int mutantsEach)
    {
        var random = new Random(seed);
        var findings = new List<string>();
        foreach (Vector vector in vectors.Where(static v => v.Bytes.Length < 4096))
        {
            Structure structure = structures[vector.Structure];
            if (structure.Ends == Ends.NotDecoded) continue;
            for (int i = 0; i < mutantsEach; i++)
                Try(vector.ToString(), structure, Mutation.Of(vector.Bytes, random), vector.Context, findings);
        }
        return findings;
    }

    public static List<string> Noise(
        IReadOnlyDictionary<string, Structure> structures, IEnumerable<Vector> contexts, int seed, int inputsEach)
    {
        var random = new Random(seed);
        var findings = new List<string>();
        foreach ((string name, Structure structure) in structures)
        {
            if (structure.Ends == Ends.NotDecoded) continue;
            JsonObject context = contexts.First(v => v.Structure == name).Context;
            for (int i = 0; i < inputsEach; i++)
            {
                var bytes = new byte[random.Next(200)];
                random.NextBytes(bytes);
                Try(name, structure, bytes, context, findings);
            }
        }
        return findings;
    }

    private static void Try(string name, Structure structure, byte[] bytes, JsonObject context, List<string> findings)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        Outcome outcome = Outcome.Of(structure, bytes, context);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        string input = Convert.ToHexStringLower(bytes);
        if (outcome.Fault is not null) findings.Add($"{name}: {input}: {outcome.Fault}");
        else if (allocated > AllocatedBytesBase + AllocatedBytesEach * bytes.Length)
            findings.Add($"{name}: {input}: {allocated} bytes allocated");
        else if (outcome.Fields is not null && structure.Reencode is not null && !context.ContainsKey("lenient")
            && !context.ContainsKey("messageBytesMax"))
        {
            byte[] again = structure.Reencode(bytes, context);
            bool mayHaveMore = name.Contains("varint", StringComparison.Ordinal) || name.Contains("frame", StringComparison.Ordinal);
            if (!bytes.AsSpan().StartsWith(again) || (again.Length != bytes.Length && !mayHaveMore))
                findings.Add($"{name}: {input} is accepted and written again as {Convert.ToHexStringLower(again)}");
        }
    }
}
