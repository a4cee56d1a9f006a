using System.Buffers;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Protocol.Tests;

/// <summary>Decoders of every structure that the vectors name.</summary>
internal static class AllStructures
{
    public static IReadOnlyDictionary<string, Structure> ByName { get; } = new Dictionary<string, Structure>(
        [.. HashStructures.All, .. FrameStructures.All, .. PayloadStructures.All, .. RunStructures.All, .. RecordStructures.All,
            .. CborStructures.All, .. ValueStructures.All, .. CheckpointStructures.All]);

    public static KeyValuePair<string, Structure> Payload<T>(string name, Func<T, JsonObject> fields) where T : IFramePayload<T> =>
        new(name, new Structure(
            (bytes, _) => fields(T.Read(bytes)),
            static (bytes, _) => Written(T.Read(bytes))));

    public static KeyValuePair<string, Structure> Record<T>(
        string name, Func<T, JsonObject> fields, Ends ends = Ends.Fixed) where T : IRecordBody<T> => new(name, new Structure(
            (bytes, _) => fields(T.Read(bytes)),
            static (bytes, _) => RecordKinds.Encode(T.Read(bytes)),
            ends));

    private static byte[] Written<T>(T payload) where T : IFramePayload<T>
    {
        var buffer = new byte[payload.BytesMax]; // what does not fit breaks BytesMax
        var writer = new PayloadWriter(buffer);
        payload.Write(ref writer);
        return buffer[..writer.Written];
    }

    /// <summary>The message limit of the connection: that of the vector, or the default.</summary>
    public static uint MessageLimit(JsonObject context) =>
        context["messageBytesMax"] is JsonNode limit ? (uint)limit : SizeLimits.MessageBytesMaxDefault;

    public static string Hex(ReadOnlySpan<byte> bytes) => Convert.ToHexStringLower(bytes);

    public static string Hex(ulong hash) => hash.ToString("x16");

    public static string Text(ulong value) => value.ToString();

    public static string Text(long value) => value.ToString();
}
