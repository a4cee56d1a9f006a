using System.Globalization;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Tests;

/// <summary>Values of P4.3 and failures, each one item.</summary>
internal static class ValueStructures
{
    private delegate T Reading<T>(ref CborReader from);

    private delegate void Writing<T>(ref CborWriter to, T value);

    public static IEnumerable<KeyValuePair<string, Structure>> All =>
    [
        Value("int64", static (ref r) => r.ReadInt64(), static (ref w, v) => w.WriteInt64(v)),
        Value("uint64", static (ref r) => r.ReadUInt64(), static (ref w, v) => w.WriteUInt64(v)),
        Value("int32", static (ref r) => r.ReadInt32(), static (ref w, v) => w.WriteInt64(v)),
        Value("uint32", static (ref r) => r.ReadUInt32(), static (ref w, v) => w.WriteInt64(v)),
        Value("int16", static (ref r) => r.ReadInt16(), static (ref w, v) => w.WriteInt64(v)),
        Value("uint16", static (ref r) => r.ReadUInt16(), static (ref w, v) => w.WriteInt64(v)),
        Value("sbyte", static (ref r) => r.ReadSByte(), static (ref w, v) => w.WriteInt64(v)),
        Value("byte", static (ref r) => r.ReadByte(), static (ref w, v) => w.WriteInt64(v)),
        Value("char", static (ref r) => r.ReadChar(), static (ref w, v) => w.WriteChar(v), static v => ((int)v).ToString()),
        Value("boolean", static (ref r) => r.ReadBoolean(), static (ref w, v) => w.WriteBoolean(v), static v => v ? "true" : "false"),
        Value("string", static (ref r) => r.ReadString(), static (ref w, v) => w.WriteString(v)),
        Value("bytes", static (ref r) => r.ReadBytes().ToArray(), static (ref w, v) => w.WriteBytes(v), static v => AllStructures.Hex(v)),
        Value("single", static (ref r) => r.ReadSingle(), static (ref w, v) => w.WriteSingle(v),
            static v => AllStructures.Hex(BitConverter.DoubleToUInt64Bits(v))),
        Value("double", static (ref r) => r.ReadDouble(), static (ref w, v) => w.WriteDouble(v),
            static v => AllStructures.Hex(BitConverter.DoubleToUInt64Bits(v))),
        Value("guid", static (ref r) => r.ReadGuid(), static (ref w, v) => w.WriteGuid(v)),
        Value("decimal", static (ref r) => r.ReadDecimal(), static (ref w, v) => w.WriteDecimal(v)),
        Value("dateTime", static (ref r) => r.ReadDateTime(), static (ref w, v) => w.WriteDateTime(v),
            static v => $"{v.Ticks} {(int)v.Kind}"),
        Value("dateTimeOffset", static (ref r) => r.ReadDateTimeOffset(), static (ref w, v) => w.WriteDateTimeOffset(v),
            static v => $"{v.Ticks} {v.TotalOffsetMinutes}"),
        Value("timeSpan", static (ref r) => r.ReadTimeSpan(), static (ref w, v) => w.WriteTimeSpan(v), static v => v.Ticks.ToString()),
        Value("dateOnly", static (ref r) => r.ReadDateOnly(), static (ref w, v) => w.WriteDateOnly(v), static v => v.DayNumber.ToString()),
        Value("timeOnly", static (ref r) => r.ReadTimeOnly(), static (ref w, v) => w.WriteTimeOnly(v), static v => v.Ticks.ToString()),
        new("failure",
            new Structure(static (bytes, _) => ShowFailure(bytes),
                static (bytes, _) => Again(bytes, FailureInfo.Read, static (ref w, v) => v.Write(ref w)))),
    ];

    private static KeyValuePair<string, Structure> Value<T>(string name, Reading<T> read, Writing<T> write, Func<T, string>? show = null) =>
        new(name, new Structure(
            (bytes, _) => new() { ["value"] = Shown(Read(bytes, read), show) },
            (bytes, _) => Again(bytes, read, write)));

    private static string Shown<T>(T value, Func<T, string>? show) =>
        show is null ? string.Create(CultureInfo.InvariantCulture, $"{value}") : show(value);

    private static T Read<T>(ReadOnlySpan<byte> bytes, Reading<T> read)
    {
        var reader = new CborReader(bytes);
        T value = read(ref reader);
        return reader.AtEnd ? value : throw new ProtocolViolation("P4.1", "surplus items");
    }

    private static byte[] Again<T>(ReadOnlySpan<byte> bytes, Reading<T> read, Writing<T> write)
    {
        var buffer = new byte[bytes.Length];
        var writer = new CborWriter(buffer);
        write(ref writer, Read(bytes, read));
        return buffer[..(int)writer.Written];
    }

    private static JsonObject ShowFailure(ReadOnlySpan<byte> bytes)
    {
        var chain = new JsonArray();
        for (FailureInfo? f = Read(bytes, FailureInfo.Read); f is not null; f = f.Inner)
            chain.Add(new JsonObject { ["type"] = f.TypeName, ["message"] = f.Message });
        return new() { ["chain"] = chain };
    }
}
