using System.Globalization;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Protocol.Tests.AllStructures;

namespace Ambrosia.Protocol.Tests;

/// <summary>Varints, checksums, hashes, method ids.</summary>
internal static class HashStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All =>
    [
        new("varint",
            new Structure(static (bytes, _) => new() { ["value"] = Text(ReadVarint(bytes)) },
                static (bytes, _) => WriteVarint(ReadVarint(bytes)), Ends.Anywhere)),
        new("crc32c", new Structure(
            static (bytes, context) => new() { ["crc"] = Crc32C.Append((uint)Seed(context), bytes).ToString("x8") }, null,
            Ends.NotDecoded)),
        new("crc64nvme", new Structure(
            static (bytes, context) => new() { ["hash"] = Hex(ChannelHash.Append(Seed(context), bytes)) }, null, Ends.NotDecoded)),
        new("channelHash", new Structure(HashChannel, null, Ends.NotDecoded)),
        new("answerHash", new Structure(HashAnswers, null, Ends.NotDecoded)),
        new("methodId", new Structure(
            static (_, context) => new() { ["id"] = MethodIds.Of((string)context["interface"]!, (string)context["method"]!) }, null,
            Ends.NotDecoded)),
    ];

    private static ulong Seed(JsonObject context) =>
        context["seed"] is JsonNode seed ? ulong.Parse((string)seed!, NumberStyles.HexNumber, CultureInfo.InvariantCulture) : 0;

    private static ulong ReadVarint(ReadOnlySpan<byte> bytes) => Varint.TryRead(bytes, out ulong value, out int size) switch
    {
        DecodeStatus.Ok when size == Varint.SizeOf(value) => value,
        DecodeStatus.NeedMore => throw new NeedMoreException(),
        DecodeStatus.Malformed => throw new ProtocolViolation("P1.2", "malformed varint"),
        _ => throw new InvalidOperationException($"size {size} of {value}"),
    };

    private static byte[] WriteVarint(ulong value)
    {
        var bytes = new byte[Varint.BytesMax];
        return bytes[..Varint.Write(bytes, value)];
    }

    private static JsonObject HashAnswers(ReadOnlySpan<byte> bytes, JsonObject context)
    {
        AnswerDigest answers = default;
        foreach (int size in context["runs"]!.AsArray().Select(static run => (int)run!))
        {
            answers = answers.After(RunView.ReadWhole(bytes[..size], SizeLimits.MessageBytesMaxDefault));
            bytes = bytes[size..];
        }
        return RecordStructures.Show(answers);
    }

    private static JsonObject HashChannel(ReadOnlySpan<byte> bytes, JsonObject context)
    {
        var hasher = new ChannelHasher();
        foreach (JsonNode? piece in context["pieces"]!.AsArray())
        {
            int size = (int)piece!["bytes"]!;
            hasher.Append((MessageKind)(byte)piece["kind"]!, bytes[..size]);
            bytes = bytes[size..];
        }
        return new() { ["hash"] = Hex(hasher.Hash), ["lastKind"] = (int)hasher.LastKind };
    }
}
