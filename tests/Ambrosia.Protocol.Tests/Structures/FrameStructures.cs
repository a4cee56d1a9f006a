using System.Buffers;
using System.Globalization;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Tests;

/// <summary>Whole frames.</summary>
internal static class FrameStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All => [new("frame", new Structure(Decode, Reencode))];

    private static JsonObject Decode(ReadOnlySpan<byte> bytes, JsonObject context)
    {
        FrameHeader header = Read(bytes, context, out ReadOnlySpan<byte> payload, out int consumed);
        return new() { ["type"] = (int)header.Type, ["payload"] = AllStructures.Hex(payload), ["consumed"] = consumed };
    }

    private static byte[] Reencode(ReadOnlySpan<byte> bytes, JsonObject context)
    {
        FrameHeader header = Read(bytes, context, out ReadOnlySpan<byte> payload, out _);
        var buffer = new ArrayBufferWriter<byte>();
        FrameWriter.Write(buffer, header.Type, payload, Seed(context), (bool)context["link"]!);
        return buffer.WrittenSpan.ToArray();
    }

    private static FrameHeader Read(ReadOnlySpan<byte> bytes, JsonObject context, out ReadOnlySpan<byte> payload, out int consumed)
    {
        DecodeStatus status = FrameReader.TryRead(
            bytes, Seed(context), (uint)context["payloadBytesMax"]!, (bool)context["link"]!, out FrameHeader header,
            out payload, out consumed);
        return status == DecodeStatus.Ok ? header : throw new NeedMoreException();
    }

    private static uint Seed(JsonObject context) =>
        uint.Parse((string)context["seed"]!, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
}
