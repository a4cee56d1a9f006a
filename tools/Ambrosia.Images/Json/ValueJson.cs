using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;

namespace Ambrosia.Images.Json;

/// <summary>Writes what stands in a place of an image, by the slot of that place.</summary>
/// <param name="refer">Writes what stands for a reference; null: the place refers to nothing.</param>
internal sealed class ValueJson(CSharpImage image, JsonOutput to, Action<int?> refer)
{
    /// <summary>The bytes of a packed array that are looked at together.</summary>
    private const int StretchBytes = 1 << 20;

    /// <summary>The places within each other at most; deeper ones are in no state.</summary>
    private const int DepthMax = 1000;

    private int _depth;

    internal void Write(ref ImageCursor from, Slot slot)
    {
        from.MoveOn();
        if (++_depth > DepthMax) throw new ImageException("places that are nested too deeply");
        switch (slot.Form)
        {
            case SlotForm.Number: NumberValue.Read(slot.Text, ref from.Items).WriteTo(to); break;
            case SlotForm.Reference: WriteReference(ref from); break;
            case SlotForm.Row: WriteRow(ref from, image.TypeAt(slot.RowNumber)); break;
            case SlotForm.Nullable when from.Items.TryReadNull(): to.To.WriteNullValue(); break;
            case SlotForm.Nullable: Write(ref from, slot.Inner!); break;
            case SlotForm.Several: WriteItems(ref from, slot.Inner!, from.Items.ReadArrayHeader()); break;
            case SlotForm.Enumerator: WriteEnumerator(ref from, slot.Inner!); break;
            case SlotForm.Opaque or SlotForm.Never: CborJson.Write(ref from.Items, to); break;
            default: throw new ImageException($"a place is described as '{slot.Text}', which is for arrays and collections");
        }
        _depth--;
    }

    internal void WriteReference(ref ImageCursor from)
    {
        if (from.Items.TryReadNull()) refer(null);
        else refer(image.IdAt(from.Items.ReadUInt64()));
    }

    internal void WriteItems(ref ImageCursor from, Slot slot, int count)
    {
        to.To.WriteStartArray();
        for (; count > 0; count--)
        {
            Write(ref from, slot);
            to.Advance();
        }
        to.To.WriteEndArray();
    }

    /// <param name="isNamed">The type is named too: the place does not tell it.</param>
    internal void WriteFields(ref ImageCursor from, ImageType type, bool isNamed)
    {
        int count = from.Items.ReadArrayHeader();
        if (count != type.Slots.Length) throw new ImageException($"{type.Name} of {count} fields where {type.Slots.Length} are named");
        to.To.WriteStartObject();
        if (isNamed) to.To.WriteString("$type", type.Name);
        for (int i = 0; i < count; i++)
        {
            to.To.WritePropertyName(JsonOutput.Key(type.Fields[i]));
            if (type.Kind == TypeKind.SuspendedMethod && from.Items.TryReadNull()) to.To.WriteNullValue(); // a local that is not in use
            else Write(ref from, type.Slots[i]);
        }
        to.To.WriteEndObject();
    }

    internal void WriteEnum(ref ImageCursor from, ImageType type)
    {
        Int128 number = NumberValue.Read(type.Slots[0].Text, ref from.Items).Integer;
        WriteEnum(number, type);
    }

    /// <summary>Says whether a key is one number, text, date or enum, so that its text can name an entry.</summary>
    internal bool IsPlainKey(Slot slot) =>
        slot.Form == SlotForm.Number || (slot.Form == SlotForm.Row && image.TypeAt(slot.RowNumber).Kind == TypeKind.Enum);

    internal string ReadKey(ref ImageCursor from, Slot slot)
    {
        from.MoveOn();
        if (slot.Form == SlotForm.Number) return NumberValue.Read(slot.Text, ref from.Items).AsKey();
        ImageType type = image.TypeAt(slot.RowNumber);
        var number = NumberValue.Read(type.Slots[0].Text, ref from.Items);
        return type.Names.TryGetValue(number.Integer, out string? name) ? name : number.AsKey();
    }

    /// <summary>Writes elements that are one byte string: bytes as hexadecimal digits, others one by one.</summary>
    internal void WritePacked(ref ImageCursor from, Slot slot)
    {
        if (slot.Text == "u1")
        {
            long length = from.ReadBytesLength();
            WriteHexadecimal(from.Position, length);
            from.Pass(length);
            return;
        }
        to.To.WriteStartArray();
        ForEachPacked(ref from, image.PackedBytes(slot), (ref elements) => WritePackedElement(ref elements, slot));
        to.To.WriteEndArray();
    }

    /// <summary>Writes a map whose keys and values are one byte string, as <see cref="ObjectJson"/> writes others.</summary>
    internal void WritePackedMap(ref ImageCursor from, Slot keys, Slot values)
    {
        bool hasPlainKeys = IsPlainKey(keys);
        if (hasPlainKeys) to.To.WriteStartObject();
        else to.To.WriteStartArray();
        ForEachPacked(ref from, image.PackedBytes(keys) + image.PackedBytes(values), (ref pair) =>
        {
            if (hasPlainKeys) to.To.WritePropertyName(UnpackKey(ref pair, keys));
            else
            {
                to.To.WriteStartArray();
                WritePackedElement(ref pair, keys);
            }
            WritePackedElement(ref pair, values);
            if (!hasPlainKeys) to.To.WriteEndArray();
        });
        if (hasPlainKeys) to.To.WriteEndObject();
        else to.To.WriteEndArray();
    }

    private delegate void TakePacked(ref ReadOnlySpan<byte> elements);

    /// <summary>Gives the bytes from each element on, of which the callee takes as many as an element has.</summary>
    private void ForEachPacked(ref ImageCursor from, int bytes, TakePacked take)
    {
        long length = from.ReadBytesLength(), at = from.Position;
        if (length % bytes != 0) throw new ImageException($"{length} bytes are no elements of {bytes}");
        from.Pass(length);
        int stretch = Math.Max(1, StretchBytes / bytes) * bytes;
        for (long end = at + length; at < end && !to.IsNowhere; at += stretch)
        {
            ReadOnlySpan<byte> elements = image.Bytes(at, (int)Math.Min(stretch, end - at));
            while (elements.Length > 0)
            {
                take(ref elements);
                to.Advance();
            }
        }
    }

    private void WriteHexadecimal(long at, long length)
    {
        to.To.WriteStartObject();
        to.To.WriteString("$bytes", Convert.ToHexStringLower(image.Bytes(at, checked((int)length))));
        to.To.WriteEndObject();
    }

    private string UnpackKey(ref ReadOnlySpan<byte> from, Slot slot)
    {
        ImageType? type = slot.Form == SlotForm.Row ? image.TypeAt(slot.RowNumber) : null;
        string number = (type?.Slots[0] ?? slot).Text;
        var key = NumberValue.Unpack(number, from);
        from = from[PackedNumbers.BytesOf(number)..];
        return type is not null && type.Names.TryGetValue(key.Integer, out string? name) ? name : key.AsKey();
    }

    internal void WritePackedElement(ref ReadOnlySpan<byte> from, Slot slot)
    {
        if (slot.Form == SlotForm.Number)
        {
            NumberValue.Unpack(slot.Text, from).WriteTo(to);
            from = from[PackedNumbers.BytesOf(slot.Text)..];
            return;
        }
        ImageType type = image.TypeAt(slot.RowNumber);
        if (type.Kind == TypeKind.Enum)
        {
            string number = type.Slots[0].Text;
            WriteEnum(NumberValue.Unpack(number, from).Integer, type);
            from = from[PackedNumbers.BytesOf(number)..];
            return;
        }
        to.To.WriteStartObject();
        for (int i = 0; i < type.Slots.Length; i++)
        {
            to.To.WritePropertyName(JsonOutput.Key(type.Fields[i]));
            WritePackedElement(ref from, type.Slots[i]);
        }
        to.To.WriteEndObject();
    }

    private void WriteRow(ref ImageCursor from, ImageType type)
    {
        if (type.Kind == TypeKind.Enum) WriteEnum(ref from, type);
        else if (type.HasFields) WriteFields(ref from, type, isNamed: false);
        else throw new ImageException($"{type.Name} does not stand in a place");
    }

    private void WriteEnum(Int128 number, ImageType type)
    {
        if (type.Names.TryGetValue(number, out string? name)) to.To.WriteStringValue(name);
        else to.Integer(number);
    }

    private void WriteEnumerator(ref ImageCursor from, Slot items)
    {
        if (from.Items.ReadArrayHeader() != 4) throw new ImageException("an enumerator of another form");
        to.To.WriteStartObject();
        to.To.WritePropertyName("$list");
        WriteReference(ref from);
        to.To.WriteNumber("$index", from.Items.ReadInt64());
        to.To.WriteBoolean("$isValid", from.Items.ReadBoolean());
        to.To.WritePropertyName("$current");
        Write(ref from, items);
        to.To.WriteEndObject();
    }
}
