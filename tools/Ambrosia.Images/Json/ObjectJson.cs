using System.Globalization;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Json;

/// <summary>
/// Writes the objects of an image: each by the row of its type, each place by its slot. It walks all of them once before, without writing,
/// to count the references. Thread: the caller's.
/// </summary>
internal sealed class ObjectJson
{
    /// <summary>The objects that stand in each other's places at most; a deeper one stands behind the state.</summary>
    private const int DepthMax = 64;

    /// <summary>The class of object 0 of a whole image, and its field that holds the immortal.</summary>
    internal const string RootClass = "Ambrosia.ImageRoot", ImmortalField = "Immortal";

    /// <summary>The name that stands for the immortal.</summary>
    private const string State = "state";

    private readonly CSharpImage _image;
    private readonly ValueJson _values;
    private readonly JsonOutput _to;
    private readonly Queue<int> _behind = [];
    private readonly bool[] _isBehind;
    private readonly int[] _references;
    private int _depth;

    /// <summary>The objects that have names instead of numbers, since they stand in front or are known.</summary>
    private readonly Dictionary<int, string> _names = [];

    internal ObjectJson(CSharpImage image, JsonOutput to)
    {
        _image = image;
        _isBehind = new bool[image.Count];
        _references = new int[image.Count + 1]; // the last counts the places that refer to nothing
        CountReferences();
        _to = to;
        _values = new ValueJson(image, to, WriteReference);
    }

    private ObjectJson(CSharpImage image, JsonOutput to, int[] references)
    {
        _image = image;
        _to = to;
        _isBehind = [];
        _references = references;
        _values = new ValueJson(image, to, id => references[id ?? image.Count]++);
    }

    /// <summary>Writes what stands in a place.</summary>
    internal ValueJson Values => _values;

    /// <summary>
    /// Writes the members of the object that the caller has begun: the state, the session, and what several places refer to.
    /// </summary>
    internal void WriteRoot()
    {
        if (_image.Count == 0) throw new ImageException("the image holds no object");
        if (_image.TypeOf(0) is { HasFields: true, Name: RootClass } root) WriteWhole(root);
        else WriteFirst("root", 0);
        WriteBehind();
    }

    /// <summary>Writes one object under a name, and what several places refer to, the immortal excepted.</summary>
    /// <param name="immortal">Its number; null: there is none.</param>
    internal void WriteOne(string name, int id, int? immortal)
    {
        if (immortal is { } known) _names[known] = State;
        WriteFirst(name, id);
        WriteBehind();
    }

    /// <summary>Writes under a name what stands in no object of its own, and what several places refer to.</summary>
    internal void WriteOne(string name, Action write, int? immortal)
    {
        if (immortal is { } known) _names[known] = State;
        _to.To.WritePropertyName(name);
        write();
        WriteBehind();
    }

    private void WriteBehind()
    {
        if (_behind.Count == 0) return;
        _to.To.WriteStartObject("objects");
        while (_behind.TryDequeue(out int id))
        {
            _to.To.WritePropertyName(id.ToString(CultureInfo.InvariantCulture));
            Write(id);
        }
        _to.To.WriteEndObject();
    }

    /// <summary>Writes the immortal as the state, and the other fields of the root as what its session needs to go on.</summary>
    private void WriteWhole(ImageType root)
    {
        foreach (bool isState in new[] { true, false })
        {
            if (!isState) _to.To.WriteStartObject("session");
            ImageCursor from = _image.BodyOf(0);
            from.Items.ReadArrayHeader();
            for (int i = 0; i < root.Slots.Length; i++)
            {
                if (root.Fields[i] == ImmortalField != isState)
                {
                    from.Skip();
                    continue;
                }
                if (isState && from.Items.PeekKind() == CborKind.Unsigned)
                    WriteFirst(State, _image.IdAt(from.Items.ReadUInt64()));
                else
                {
                    _to.To.WritePropertyName(root.Fields[i]);
                    _values.Write(ref from, root.Slots[i]);
                }
            }
            if (!isState) _to.To.WriteEndObject();
        }
    }

    private void WriteFirst(string name, int id)
    {
        _names[id] = name;
        _to.To.WritePropertyName(name);
        Write(id);
    }

    private void CountReferences()
    {
        using var nowhere = new JsonOutput(null, isIndented: false);
        var counting = new ObjectJson(_image, nowhere, _references);
        for (int id = 0; id < _image.Count; id++) counting.Write(id);
    }

    private void WriteReference(int? reference)
    {
        if (reference is not { } id)
        {
            _to.To.WriteNullValue();
            return;
        }
        // Equal texts are one object wherever they are boxed, so nothing is shared by them.
        bool isInPlace = (_references[id] == 1 && _depth < DepthMax && !_names.ContainsKey(id))
            || _image.TypeOf(id) is { Kind: TypeKind.Box, Slots: [{ Text: "s" }] };
        if (isInPlace)
        {
            _depth++;
            Write(id);
            _depth--;
            return;
        }
        _to.To.WriteStartObject();
        bool isNamed = _names.TryGetValue(id, out string? name);
        if (isNamed) _to.To.WriteString("$ref", name);
        else _to.To.WriteNumber("$ref", id);
        _to.To.WriteEndObject();
        if (_isBehind[id] || isNamed) return;
        _isBehind[id] = true;
        _behind.Enqueue(id);
    }

    private void Write(int id)
    {
        _to.Advance();
        ImageType type = _image.TypeOf(id);
        ImageCursor from = _image.BodyOf(id);
        switch (type.Kind)
        {
            case TypeKind.Class or TypeKind.Struct or TypeKind.SuspendedMethod: _values.WriteFields(ref from, type, isNamed: true); break;
            case TypeKind.Array: WriteArray(ref from, SlotOf(type, 0)); break;
            case TypeKind.Grid: WriteGrid(ref from, SlotOf(type, 0)); break;
            case TypeKind.Sequence: WriteSequence(ref from, SlotOf(type, 0)); break;
            case TypeKind.Map: WriteMap(ref from, type); break;
            case TypeKind.Box when SlotOf(type, 0).Text == "s": _values.Write(ref from, type.Slots[0]); break;
            default: WriteNamed(ref from, type); break;
        }
    }

    private void WriteArray(ref ImageCursor from, Slot slot)
    {
        if (slot.Form == SlotForm.Packed) _values.WritePacked(ref from, slot.Inner!);
        else _values.WriteItems(ref from, slot, from.Items.ReadArrayHeader());
    }

    private void WriteGrid(ref ImageCursor from, Slot slot)
    {
        from.Items.ReadArrayHeader();
        _to.To.WriteStartObject();
        _to.To.WriteStartArray("$lengths");
        for (int left = from.Items.ReadArrayHeader(); left > 0; left--) _to.Integer((Int128)from.Items.ReadInt64());
        _to.To.WriteEndArray();
        _to.To.WritePropertyName("$items");
        _values.WriteItems(ref from, slot, from.Items.ReadArrayHeader());
        _to.To.WriteEndObject();
    }

    private void WriteSequence(ref ImageCursor from, Slot slot)
    {
        int items = from.Items.ReadArrayHeader();
        from.Items.Skip(); // the comparer, and where the elements lie
        if (slot.Form != SlotForm.Packed) _values.WriteItems(ref from, slot, items - 1);
        else if (items == 2) _values.WritePacked(ref from, slot.Inner!);
        else throw new ImageException($"a packed collection of {items} items");
    }

    /// <summary>Writes a map by the texts of its keys, or as pairs where a key is more than a number, text or date.</summary>
    private void WriteMap(ref ImageCursor from, ImageType type)
    {
        int items = from.Items.ReadArrayHeader();
        from.Items.Skip(); // the comparer, and where the entries lie
        Slot keys = SlotOf(type, 0), values = SlotOf(type, 1);
        if (keys.Form == SlotForm.Packed)
        {
            if (items != 2 || values.Form != SlotForm.Packed) throw new ImageException($"a packed map of {items} items");
            _values.WritePackedMap(ref from, keys.Inner!, values.Inner!);
            return;
        }
        bool hasPlainKeys = _values.IsPlainKey(keys);
        if (hasPlainKeys) _to.To.WriteStartObject();
        else _to.To.WriteStartArray();
        for (int i = 1; i + 1 < items; i += 2)
        {
            if (hasPlainKeys) _to.To.WritePropertyName(_values.ReadKey(ref from, keys));
            else
            {
                _to.To.WriteStartArray();
                _values.Write(ref from, keys);
            }
            _values.Write(ref from, values);
            if (!hasPlainKeys) _to.To.WriteEndArray();
        }
        if (hasPlainKeys) _to.To.WriteEndObject();
        else _to.To.WriteEndArray();
    }

    private void WriteNamed(ref ImageCursor from, ImageType type)
    {
        _to.To.WriteStartObject();
        _to.To.WriteString("$type", type.Name);
        if (type.Kind == TypeKind.Delegate) WriteDelegate(ref from);
        else if (type.Kind == TypeKind.Proxy) WriteProxy(ref from);
        else
        {
            _to.To.WritePropertyName("$value");
            if (type.Kind == TypeKind.Enum) _values.WriteEnum(ref from, type);
            else if (type.Kind == TypeKind.Box) _values.Write(ref from, SlotOf(type, 0));
            else CborJson.Write(ref from.Items, _to);
        }
        _to.To.WriteEndObject();
    }

    private void WriteDelegate(ref ImageCursor from)
    {
        if (from.Items.ReadArrayHeader() != 4) throw new ImageException("a delegate of another form");
        if (from.Items.PeekKind() == CborKind.Text) _to.To.WriteString("$method", from.Items.ReadString());
        else
        {
            from.Items.ReadArrayHeader();
            string declaring = _image.TypeAt((long)from.Items.ReadUInt64()).Name, name = from.Items.ReadString();
            _to.To.WriteString("$method", $"{declaring}.{name}({from.Items.ReadString()})");
        }
        from.Skip(); // generic arguments of the class, and of the method
        from.Skip();
        _to.To.WritePropertyName("$target");
        _values.WriteReference(ref from);
    }

    private void WriteProxy(ref ImageCursor from)
    {
        from.Items.ReadArrayHeader();
        if (from.Items.ReadUInt64() is > 0 and { } shard) _to.To.WriteNumber("$shard", shard);
        _to.To.WriteString("$instance", from.Items.ReadString());
    }

    private static Slot SlotOf(ImageType type, int index) =>
        index < type.Slots.Length ? type.Slots[index] : throw new ImageException($"{type.Name} does not say what it is made of");
}
