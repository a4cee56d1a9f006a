using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Walks the places of an object of an image, each by its slot and under its name, and masks what stands there; or only tells to which
/// objects they refer, and under which names. One thread.
/// </summary>
/// <param name="refer">Hears of each reference.</param>
/// <param name="isNaming">Values are passed over.</param>
internal sealed class PlaceMasking(CSharpImage image, ValueMasker masker, Action<int, PlaceName> refer, bool isNaming)
{
    /// <summary>The places within each other at most; deeper ones are in no state.</summary>
    private const int DepthMax = 1000;

    /// <summary>The name of an exception's text, and of one that tells an exception.</summary>
    private const string Message = "_message", HResult = "_HResult", Link = "_helpURL";

    /// <summary>Stands in front of the link of an exception whose text is the runtime's (docs/image.md I3.8).</summary>
    private static ReadOnlySpan<byte> RuntimesText => "[the text is the runtime's]"u8;

    /// <summary>The slot of a character.</summary>
    private const string Character = "c";

    /// <summary>The names of instances are no data: what is sent to them goes by these.</summary>
    private const string InstanceName = "Ambrosia.Protocol.InstanceId";

    private readonly Dictionary<ImageType, Int128[]> _members = [];
    private int _depth;

    /// <summary>
    /// Says whether a type is one of the binding's, or something that is continued: a mask of a reference to it is not meant for it.
    /// </summary>
    internal static bool IsOfSession(ImageType type) =>
        type.Kind is TypeKind.Delegate or TypeKind.Proxy or TypeKind.SuspendedMethod or TypeKind.Other || IsOfBinding(type.Name);

    /// <summary>Says whether the binding itself declares a type: its namespaces are known, and an app has others.</summary>
    internal static bool IsOfBinding(string type)
    {
        const string Root = "Ambrosia.";
        if (!type.StartsWith(Root, StringComparison.Ordinal)) return false;
        int generic = type.IndexOf('<', StringComparison.Ordinal);
        string[] parts = (generic < 0 ? type : type[..generic])[Root.Length..].Split('.');
        return parts.Length == 1 || parts is ["Protocol" or "Calls" or "Tasks" or "Timers" or "State" or "Replay" or "Quarantine", _]
            or ["Protocol", "Records" or "Runs", _];
    }

    /// <summary>Walks one object.</summary>
    internal void Object(int id, PlaceName at)
    {
        ImageType type = image.TypeOf(id);
        ImageCursor from = image.BodyOf(id);
        switch (type.Kind)
        {
            case TypeKind.Class or TypeKind.Struct or TypeKind.SuspendedMethod: Fields(ref from, type, at); break;
            case TypeKind.Array when SlotOf(type, 0) is { Form: SlotForm.Packed } packed:
                Packed(ref from, [packed.Inner!], at, null);
                break;
            case TypeKind.Array: Items(ref from, SlotOf(type, 0), from.Items.ReadArrayHeader(), at); break;
            case TypeKind.Grid:
                from.Items.ReadArrayHeader();
                from.Skip();
                Items(ref from, SlotOf(type, 0), from.Items.ReadArrayHeader(), at);
                break;
            case TypeKind.Sequence: Sequence(ref from, SlotOf(type, 0), at); break;
            case TypeKind.Map: Map(ref from, type, at); break;
            case TypeKind.Box: Place(ref from, SlotOf(type, 0), at); break;
            case TypeKind.Enum: Number(ref from, type, at); break;
            case TypeKind.Opaque: Opaque(ref from, at); break;
            case TypeKind.Delegate: Delegate(ref from); break;
        }
    }

    private void Fields(ref ImageCursor from, ImageType type, PlaceName at)
    {
        int count = from.Items.ReadArrayHeader();
        if (count != type.Slots.Length) throw new ImageException($"{type.Name} of {count} fields where {type.Slots.Length} are named");
        bool isFailure = type.Fields.Contains(Message) && type.Fields.Contains(HResult);
        for (int i = 0; i < count; i++)
        {
            from.MoveOn();
            if (type.Kind == TypeKind.SuspendedMethod && from.Items.TryReadNull()) continue; // a local that is not in use
            if (!isFailure) Place(ref from, type.Slots[i], NameOf(type, i, at));
            else FailureField(ref from, type, i, at);
        }
    }

    /// <summary>
    /// Masks the text of an exception as those in messages are; its number stays, and so does what says whose its text is.
    /// </summary>
    private void FailureField(ref ImageCursor from, ImageType type, int field, PlaceName at)
    {
        string name = type.Fields[field];
        if (name == HResult) from.Skip();
        else if (name == Message) Place(ref from, type.Slots[field], masker.Rules.Of("", MaskRules.Failure, at));
        else if (name != Link || from.Items.PeekKind() != CborKind.Text) Place(ref from, type.Slots[field], NameOf(type, field, at));
        else
        {
            Span<byte> content = ValueMasker.ContentOf(Take(ref from));
            if (content.StartsWith(RuntimesText)) content = content[RuntimesText.Length..];
            if (!isNaming) masker.Text(NameOf(type, field, at), content);
        }
    }

    private PlaceName NameOf(ImageType type, int field, PlaceName at) => IsOfBinding(type.Name)
        ? masker.Rules.OfBinding(type.Name, type.Fields[field], at) : masker.Rules.Of(type.Name, type.Fields[field], at);

    private void Items(ref ImageCursor from, Slot slot, int count, PlaceName at)
    {
        if (!isNaming && slot is { Form: SlotForm.Number, Text: Character or "u2" or "i2" or "u4" or "i4" } && !IsNamedNumber(slot, at))
            Characters(ref from, count, at, areCodes: slot.Text != Character);
        else
            for (; count > 0; count--) Place(ref from, slot, at);
    }

    /// <summary>A rule that names numbers masks each of them, and characters as a text.</summary>
    private static bool IsNamedNumber(Slot slot, PlaceName at) => at.IsMasked && slot.Text != Character;

    private void Characters(ref ImageCursor from, int count, PlaceName at, bool areCodes)
    {
        var places = new List<(long Start, int Length)>(Math.Min(count, 1 << 16));
        var items = new List<byte>();
        var parts = new List<Range>();
        for (; count > 0; count--)
        {
            from.MoveOn();
            long start = from.Position;
            Span<byte> item = Take(ref from);
            places.Add((start, item.Length));
            parts.Add(items.Count..(items.Count + item.Length));
            items.AddRange(item);
        }
        byte[] masked = [.. items];
        masker.Characters(at, masked, parts, areCodes);
        for (int i = 0; i < parts.Count; i++) masked.AsSpan()[parts[i]].CopyTo(image.Buffer.Writable(places[i].Start, places[i].Length));
    }

    private void Sequence(ref ImageCursor from, Slot slot, PlaceName at)
    {
        int items = from.Items.ReadArrayHeader();
        from.Skip(); // the comparer, and where the elements lie
        if (slot.Form == SlotForm.Packed) Packed(ref from, [slot.Inner!], at, null);
        else Items(ref from, slot, items - 1, at);
    }

    private void Map(ref ImageCursor from, ImageType type, PlaceName at)
    {
        int items = from.Items.ReadArrayHeader();
        from.Skip();
        Slot keys = SlotOf(type, 0), values = SlotOf(type, 1);
        PlaceName names = masker.Rules.KeysOf(at);
        if (keys.Form == SlotForm.Packed)
        {
            Packed(ref from, [keys.Inner!, values.Inner!], names, at);
            return;
        }
        for (int i = 1; i + 1 < items; i += 2)
        {
            Place(ref from, keys, names);
            Place(ref from, values, at);
        }
    }

    private void Place(ref ImageCursor from, Slot slot, PlaceName at)
    {
        from.MoveOn();
        if (++_depth > DepthMax) throw new ImageException("places that are nested too deeply");
        switch (slot.Form)
        {
            case SlotForm.Number: Number(ref from, slot.Text, null, at); break;
            case SlotForm.Reference: Reference(ref from, at); break;
            case SlotForm.Row when image.TypeAt(slot.RowNumber) is { Name: InstanceName }: from.Skip(); break;
            case SlotForm.Row when image.TypeAt(slot.RowNumber) is { HasFields: true } type: Fields(ref from, type, at); break;
            case SlotForm.Row: Number(ref from, image.TypeAt(slot.RowNumber), at); break;
            case SlotForm.Nullable when from.Items.TryReadNull(): break;
            case SlotForm.Nullable: Place(ref from, slot.Inner!, at); break;
            case SlotForm.Several: Items(ref from, slot.Inner!, from.Items.ReadArrayHeader(), at); break;
            case SlotForm.Enumerator:
                from.Items.ReadArrayHeader();
                Reference(ref from, at);
                from.Skip();
                from.Skip();
                Place(ref from, slot.Inner!, at);
                break;
            case SlotForm.Opaque: Opaque(ref from, at); break;
            default: from.Skip(); break;
        }
        _depth--;
    }

    private void Reference(ref ImageCursor from, PlaceName at)
    {
        if (from.Items.TryReadNull()) return;
        refer(image.IdAt(from.Items.ReadUInt64()), at);
    }

    private void Number(ref ImageCursor from, ImageType type, PlaceName at) => Number(ref from, SlotOf(type, 0).Text, MembersOf(type), at);

    private void Number(ref ImageCursor from, string slot, Int128[]? members, PlaceName at)
    {
        Span<byte> item = Take(ref from);
        if (!isNaming && !masker.TryItem(at, slot, item, members)) throw new ImageException($"'{slot}' of another form");
    }

    private void Opaque(ref ImageCursor from, PlaceName at)
    {
        Span<byte> item = Take(ref from);
        if (!isNaming) masker.Item(at, item);
    }

    private Span<byte> Take(ref ImageCursor from)
    {
        long start = from.Position;
        from.Skip();
        return image.Buffer.Writable(start, checked((int)(from.Position - start)));
    }

    private void Delegate(ref ImageCursor from)
    {
        from.Items.ReadArrayHeader();
        from.Skip(); // the function, and generic arguments of its class and of itself
        from.Skip();
        from.Skip();
        Reference(ref from, masker.Rules.Of("", "state"));
    }

    /// <summary>Masks elements that are one byte string; bytes alone are one value.</summary>
    /// <param name="values">The name of the second of two slots; null: there is one.</param>
    private void Packed(ref ImageCursor from, Slot[] slots, PlaceName at, PlaceName? values)
    {
        if (isNaming) return;
        int length = checked((int)from.ReadBytesLength());
        Span<byte> content = image.Buffer.Writable(from.Position, length);
        if (slots is [{ Text: "u1" or "i1" }])
        {
            masker.Bytes(at, content);
            return;
        }
        int bytes = slots.Sum(image.PackedBytes);
        if (length % bytes == 0 && slots is [var only] && Single(only) is Character or "u2" or "i2" or "u4" or "i4")
        {
            bool areCodes = Single(only) != Character;
            if (!areCodes || !at.IsMasked)
            {
                masker.Characters(at, content, bytes, areCodes);
                return;
            }
        }
        if (length % bytes != 0) throw new ImageException($"{length} bytes are no elements of {bytes}");
        if (!Array.Exists(slots, slot => IsAnyToMask(slot, slot == slots[0] ? at : values!))) return;
        for (; content.Length > 0; content = content[bytes..])
        {
            Span<byte> element = content;
            Element(slots[0], at, ref element);
            if (values is not null) Element(slots[1], values, ref element);
        }
    }

    /// <summary>The number of which an element consists; null: it has several parts, or is an enum's.</summary>
    private string? Single(Slot slot) => slot.Form == SlotForm.Number ? slot.Text
        : slot.Form == SlotForm.Row && image.TypeAt(slot.RowNumber) is { HasFields: true, Slots: [{ Form: SlotForm.Number } part] }
            ? part.Text : null;

    /// <summary>Numbers stay what they are where no rule names them; UUIDs may be equal to one that a rule names elsewhere.</summary>
    private bool IsAnyToMask(Slot slot, PlaceName at) => at.IsMasked || slot.Text == "g" || (slot.Form == SlotForm.Row
        && image.TypeAt(slot.RowNumber) is { HasFields: true } type
        && type.Slots.Where((each, i) => IsAnyToMask(each, NameOf(type, i, at))).Any());

    private void Element(Slot slot, PlaceName at, ref Span<byte> content)
    {
        ImageType? type = slot.Form == SlotForm.Row ? image.TypeAt(slot.RowNumber) : null;
        if (type is { HasFields: true })
        {
            for (int i = 0; i < type.Slots.Length; i++)
                Element(type.Slots[i], NameOf(type, i, at), ref content);
            return;
        }
        string number = (type?.Slots[0] ?? slot).Text;
        int bytes = PackedNumbers.BytesOf(number);
        masker.Packed(at, number, content[..bytes], type is null ? null : MembersOf(type));
        content = content[bytes..];
    }

    private Int128[] MembersOf(ImageType type)
    {
        if (_members.TryGetValue(type, out Int128[]? members)) return members;
        return _members[type] = [.. type.Names.Keys.Order()];
    }

    private static Slot SlotOf(ImageType type, int index) =>
        index < type.Slots.Length ? type.Slots[index] : throw new ImageException($"{type.Name} does not say what it is made of");
}
