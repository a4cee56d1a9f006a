using System.Text.Json.Nodes;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Tests;

/// <summary>Planted bugs that the walks must find; if one of these fails, the suite has gone blind.</summary>
public sealed class NegativeControlTests
{
    [Fact]
    public void VectorWalk_DecoderThatIgnoresSurplusBytes_IsFound() =>
        Assert.Contains(
            VectorWalk.Whole(VectorFiles.All,
                With("Ack", static (bytes, context) => Real("Ack", bytes[..Math.Min(24, bytes.Length)], context))), IsAbout("Ack"));

    [Fact]
    public void VectorWalk_DecoderThatSwapsFields_IsFound() =>
        Assert.Contains(VectorWalk.Whole(VectorFiles.All, With("Ack", static (bytes, context) =>
        {
            JsonObject fields = Real("Ack", bytes, context);
            (fields["durable"], fields["impulses"]) = ((string)fields["impulses"]!, (string)fields["durable"]!);
            return fields;
        })), IsAbout("Ack"));

    [Fact]
    public void VectorWalk_DecoderThatPadsShortInput_IsFound() =>
        Assert.Contains(
            VectorWalk.Cut(VectorFiles.All,
                With("Ack", static (bytes, context) => Real("Ack", (byte[])[.. bytes, .. new byte[24 - bytes.Length]], context))),
                IsAbout("Ack"));

    [Fact]
    public void VectorWalk_HashOfAnotherPolynomial_IsFound() =>
        Assert.Contains(
            VectorWalk.Whole(VectorFiles.All,
                With("crc64nvme", static (bytes, _) => new() { ["hash"] = AllStructures.Hex(Crc32C.Of(bytes)) })), IsAbout("crc64nvme"));

    [Fact]
    public void VectorWalk_WriterThatDropsAByte_IsFound()
    {
        var structures = new Dictionary<string, Structure>(AllStructures.ByName);
        structures["Peer"] = structures["Peer"] with { Reencode = static (bytes, _) => bytes[1..].ToArray() };
        Assert.Contains(VectorWalk.Reencoded(VectorFiles.All, structures), IsAbout("Peer"));
    }

    [Fact]
    public void FuzzWalk_DecoderThatTrustsALength_IsFound() =>
        Assert.Contains(FuzzWalk.Mutants(VectorFiles.All, With("Waiting", static (bytes, context) =>
        {
            bytes.Slice(9, bytes[8]); // the planted bug: a length of one byte, unchecked
            return Real("Waiting", bytes, context);
        }), seed: 1, mutantsEach: 20), IsAbout("Waiting"));

    [Fact]
    public void FuzzWalk_DecoderThatAllocatesByAStatedCount_IsFound() =>
        Assert.Contains(FuzzWalk.Mutants(VectorFiles.All, With("Trim", static (bytes, context) =>
        {
            if (Varint.TryRead(bytes, out ulong count, out _) == DecodeStatus.Ok) GC.KeepAlive(new byte[Math.Min(count * 12, 1 << 22)]);
            return Real("Trim", bytes, context);
        }), seed: 1, mutantsEach: 200), IsAbout("Trim"));

    private static Predicate<string> IsAbout(string structure) => finding => finding.Contains(structure, StringComparison.Ordinal);

    private static JsonObject Real(string structure, ReadOnlySpan<byte> bytes, JsonObject context) =>
        AllStructures.ByName[structure].Decode(bytes, context);

    private static Dictionary<string, Structure> With(string structure, Decode broken)
    {
        var structures = new Dictionary<string, Structure>(AllStructures.ByName);
        structures[structure] = structures[structure] with { Decode = broken };
        return structures;
    }
}
