using System.Text.Json.Nodes;

namespace Ambrosia.Protocol.Tests;

/// <summary>
/// Walks vectors against decoders and returns what is wrong, one line each, so that a test can also prove that a broken decoder is found.
/// An exception that is neither of the two typed ones is a finding wherever it comes up.
/// </summary>
internal static class VectorWalk
{
    /// <summary>Every position of longer inputs would take minutes; beyond this only some.</summary>
    private const int EveryPositionMax = 4096;

    public static List<string> Whole(IEnumerable<Vector> vectors, IReadOnlyDictionary<string, Structure> structures)
    {
        var findings = new List<string>();
        foreach (Vector vector in vectors)
        {
            if (!structures.TryGetValue(vector.Structure, out Structure? structure)) { findings.Add($"{vector}: no decoder"); continue; }
            Outcome outcome = Outcome.Of(structure, vector.Bytes, vector.Context);
            if (outcome.Fault is not null) findings.Add($"{vector}: {outcome.Fault}");
            else if (outcome.Error != vector.Error)
                findings.Add($"{vector}: error {outcome.Error ?? "none"}, expected {vector.Error ?? "none"}");
            else if (vector.Expect is not null && !JsonNode.DeepEquals(outcome.Fields, vector.Expect))
                findings.Add($"{vector}: {outcome.Fields!.ToJsonString()}, expected {vector.Expect.ToJsonString()}");
            else if (outcome.Lsn != vector.Lsn)
                findings.Add($"{vector}: record at {outcome.Lsn ?? "no position"}, expected {vector.Lsn ?? "none"}");
        }
        return findings;
    }

    /// <summary>What decodes is written again: the same bytes must come out.</summary>
    public static List<string> Reencoded(IEnumerable<Vector> vectors, IReadOnlyDictionary<string, Structure> structures)
    {
        var findings = new List<string>();
        foreach (Vector vector in vectors.Where(static v => v.Expect is not null && !v.Context.ContainsKey("lenient")))
        {
            if (structures[vector.Structure].Reencode is not Reencode reencode) continue;
            byte[] again = reencode(vector.Bytes, vector.Context);
            if (!again.AsSpan().SequenceEqual(vector.Bytes.AsSpan(0, again.Length))
                || (again.Length != vector.Bytes.Length && vector.Structure != "frame" && vector.Structure != "varint"))
                findings.Add($"{vector}: written again as {Convert.ToHexStringLower(again)}");
        }
        return findings;
    }

    /// <summary>Cut at every position: a typed error, or for structures that may end anywhere a value; never a crash.</summary>
    public static List<string> Cut(IEnumerable<Vector> vectors, IReadOnlyDictionary<string, Structure> structures)
    {
        var findings = new List<string>();
        foreach (Vector vector in vectors)
        {
            Structure structure = structures[vector.Structure];
            if (structure.Ends == Ends.NotDecoded) continue;
            int step = 1 + vector.Bytes.Length / EveryPositionMax;
            for (int length = 0; length < vector.Bytes.Length; length += step)
            {
                Outcome outcome = Outcome.Of(structure, vector.Bytes[..length], vector.Context);
                if (outcome.Fault is not null) findings.Add($"{vector} cut at {length}: {outcome.Fault}");
                else if (structure.Ends == Ends.Fixed && vector.Expect is not null && outcome.Error is null && !IsWhole(vector, length))
                    findings.Add($"{vector} cut at {length} is accepted");
            }
        }
        return findings;
    }

    /// <summary>A frame may have bytes of the next one behind it.</summary>
    private static bool IsWhole(Vector vector, int length) => vector.Expect?["consumed"] is JsonNode consumed && length >= (int)consumed;
}
