using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Json;

/// <summary>
/// Shows a portable image (docs/image.md I4): its parts are CBOR with names already, so that only references, classes and the numbered
/// parts of the session need words of their own.
/// </summary>
internal sealed class PortableJson(JsonOutput to)
{
    private const ulong ClassTag = 27, ReferenceTag = 29;

    internal static readonly string[] Session =
    [
        "origins", "calls", "timers", "tasks", "time", "random", "counts", "window", "forkPolicy", "quarantine",
    ];

    internal static readonly string[] Flow = ["number", "method", "arguments", "answers", "journal", "operations", "hash", "waiting"];

    private ulong _objects;

    /// <summary>The objects that were referred to and are still to be written; null: all are written anyway.</summary>
    private Queue<int>? _behind;
    private readonly HashSet<int> _referred = [];

    /// <summary>Writes the members of the object that the caller has begun; the front of the image has been read.</summary>
    internal void WriteRest(ref CborReader from)
    {
        CborReader session = new(from.ReadEncoded()), state = new(from.ReadEncoded());
        WriteState(ref state);
        to.To.WriteStartObject("session");
        if (session.ReadMapHeader() != Session.Length) throw Broken("I4.2", "a session of other parts");
        for (ulong i = 0; i < (ulong)Session.Length; i++)
        {
            if (session.ReadUInt64() != i) throw Broken("I4.2", "a session of other parts");
            to.To.WritePropertyName(Session[i]);
            Write(ref session);
        }
        to.To.WriteEndObject();
        WriteFlows(ref from);
        if (!from.AtEnd) throw Broken("I4.1", "bytes behind the image");
    }

    /// <summary>Writes one item under a name, and behind it the objects that it refers to.</summary>
    internal void WriteOne(string name, Action write, LargeBuffer image, IReadOnlyList<long> objects)
    {
        (_objects, _behind) = ((ulong)objects.Count, []);
        to.To.WritePropertyName(name);
        write();
        if (_behind.Count == 0) return;
        to.To.WriteStartObject("objects");
        while (_behind.TryDequeue(out int id))
        {
            to.To.WritePropertyName($"{id}");
            var from = new ImageCursor(image, objects[id]);
            Write(ref from.Items);
        }
        to.To.WriteEndObject();
    }

    private void WriteState(ref CborReader from)
    {
        if (from.ReadArrayHeader() != 2) throw Broken("I4.3", "a state that is not [root, objects]");
        CborReader root = new(from.ReadEncoded());
        int count = from.ReadArrayHeader();
        _objects = (ulong)count;
        to.To.WritePropertyName("state");
        Write(ref root);
        if (count == 0) return;
        to.To.WriteStartObject("objects");
        for (int i = 0; i < count; i++)
        {
            to.To.WritePropertyName($"{i}");
            Write(ref from);
        }
        to.To.WriteEndObject();
    }

    private void WriteFlows(ref CborReader from)
    {
        to.To.WriteStartArray("flows");
        for (int left = from.ReadArrayHeader(); left > 0; left--)
        {
            if (from.ReadArrayHeader() != Flow.Length) throw Broken("I4.5", "a flow of other parts");
            to.To.WriteStartObject();
            foreach (string part in Flow)
            {
                to.To.WritePropertyName(part);
                Write(ref from);
            }
            to.To.WriteEndObject();
        }
        to.To.WriteEndArray();
    }

    internal void Write(ref CborReader from)
    {
        to.Advance();
        from.EnterNested();
        switch (from.PeekKind())
        {
            case CborKind.Array: WriteArray(ref from); break;
            case CborKind.Map: WriteMap(ref from, null); break;
            case CborKind.Tag: WriteTagged(ref from); break;
            default: CborJson.Write(ref from, to); break;
        }
        from.LeaveNested();
    }

    private void WriteArray(ref CborReader from)
    {
        to.To.WriteStartArray();
        for (int left = from.ReadArrayHeader(); left > 0; left--) Write(ref from);
        to.To.WriteEndArray();
    }

    /// <summary>Writes a map by its keys where all are texts, and as pairs otherwise.</summary>
    private void WriteMap(ref CborReader from, string? type)
    {
        CborReader keys = from;
        bool hasNames = true;
        for (int left = keys.ReadMapHeader(); left > 0; left--)
        {
            hasNames &= keys.PeekKind() == CborKind.Text;
            keys.Skip();
            keys.Skip();
        }
        if (type is not null && !hasNames) throw Broken("I4.4", "fields without names");
        to.To.WriteStartObject();
        if (type is not null) to.To.WriteString("$type", type);
        if (!hasNames) to.To.WriteStartArray("$map");
        for (int left = from.ReadMapHeader(); left > 0; left--)
        {
            if (hasNames) to.To.WritePropertyName(JsonOutput.Key(from.ReadString()));
            else
            {
                to.To.WriteStartArray();
                Write(ref from);
            }
            Write(ref from);
            if (!hasNames) to.To.WriteEndArray();
        }
        if (!hasNames) to.To.WriteEndArray();
        to.To.WriteEndObject();
    }

    private void WriteTagged(ref CborReader from)
    {
        CborReader tagged = from;
        switch (tagged.ReadTag())
        {
            case ReferenceTag:
                ulong number = tagged.ReadUInt64();
                if (number >= _objects) throw Broken("I4.4", $"a reference to object {number} of {_objects}");
                to.To.WriteStartObject();
                if (_behind is not null && _referred.Add((int)number)) _behind.Enqueue((int)number);
                to.To.WriteNumber("$ref", number);
                to.To.WriteEndObject();
                from = tagged;
                break;
            case ClassTag:
                if (tagged.ReadArrayHeader() != 2) throw Broken("I4.4", "an object that is not [class, fields]");
                string type = tagged.ReadString();
                if (tagged.PeekKind() != CborKind.Map) throw Broken("I4.4", "an object that is not [class, fields]");
                WriteMap(ref tagged, type);
                from = tagged;
                break;
            default:
                CborJson.Write(ref from, to);
                break;
        }
    }

    private static ImageException Broken(string section, string what) => new($"the image is damaged: {what} ({section})");
}
