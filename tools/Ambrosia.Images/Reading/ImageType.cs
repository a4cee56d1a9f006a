using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;

namespace Ambrosia.Images.Reading;

/// <summary>Says what a value of a type is made of; the numbers are those of the table of types (docs/image.md).</summary>
internal enum TypeKind
{
    Class, Struct, Array, Grid, Sequence, Map, Box, Enum, Opaque, Delegate, Proxy, SuspendedMethod, Other,
}

/// <summary>It is a row of the table of types.</summary>
/// <param name="Name">The name of the type, as a person writes it.</param>
/// <param name="Fields">The names of the fields, as a person knows them; empty for other kinds.</param>
/// <param name="Slots">The slots of the fields or elements; of an enum that of its number.</param>
/// <param name="Names">The names of an enum by its numbers.</param>
internal sealed record ImageType(
    string Name, TypeKind Kind, string[] Fields, Slot[] Slots, IReadOnlyDictionary<Int128, string> Names)
{
    /// <summary>The names of the fields as they stand in the image.</summary>
    internal string[] StoredFields { get; private init; } = [];

    /// <summary>All members of an enum; some may have one number.</summary>
    internal EnumMember[] Members { get; private init; } = [];

    private static readonly Dictionary<Int128, string> s_noNames = [];

    internal bool HasFields => Kind is TypeKind.Class or TypeKind.Struct or TypeKind.SuspendedMethod;

    internal static ImageType Read(ref CborReader from)
    {
        if (from.ReadArrayHeader() != 3) throw new ImageException("a type is described in a form that is not known");
        string name = TypeNameReader.Read(ref from);
        ulong kind = from.ReadUInt64();
        if (kind > (ulong)TypeKind.Other) throw new ImageException($"{name} is of kind {kind}, which is not known");
        int members = from.ReadArrayHeader();
        return (TypeKind)kind switch
        {
            TypeKind.Enum => ReadEnum(ref from, name, members),
            TypeKind.Class or TypeKind.Struct or TypeKind.SuspendedMethod => ReadFields(ref from, name, (TypeKind)kind, members),
            _ => new ImageType(name, (TypeKind)kind, [], ReadSlots(ref from, members), s_noNames),
        };
    }

    private static ImageType ReadFields(ref CborReader from, string name, TypeKind kind, int members)
    {
        var names = new string[members / 2];
        var slots = new Slot[names.Length];
        for (int i = 0; i < names.Length; i++)
        {
            names[i] = from.ReadString();
            slots[i] = Slot.Parse(from.ReadString());
        }
        string[] readable = Array.ConvertAll(names, static each => Readable(FieldNames.Plain(each)));
        bool areDistinct = readable.Distinct(StringComparer.Ordinal).Count() == readable.Length;
        return new ImageType(name, kind, areDistinct ? readable : names, slots, s_noNames) { StoredFields = names };
    }

    private static Slot[] ReadSlots(ref CborReader from, int count)
    {
        var slots = new Slot[count];
        for (int i = 0; i < slots.Length; i++) slots[i] = Slot.Parse(from.ReadString());
        return slots;
    }

    private static ImageType ReadEnum(ref CborReader from, string name, int members)
    {
        var slot = Slot.Parse(from.ReadString());
        var names = new Dictionary<Int128, string>();
        var all = new List<EnumMember>();
        for (int i = 1; i + 1 < members; i += 2)
        {
            string each = from.ReadString();
            all.Add(new EnumMember(each, from.PeekKind() == CborKind.Unsigned ? from.ReadUInt64() : from.ReadInt64(), []));
            names.TryAdd(all[^1].Number, each);
        }
        return new ImageType(name, TypeKind.Enum, [], [slot], names) { Members = [.. all] };
    }

    /// <summary>Returns the name of the property or local whose field the compiler has named.</summary>
    private static string Readable(string field)
    {
        int end = field.IndexOf('>', StringComparison.Ordinal);
        if (!field.StartsWith('<') || end < 0) return field;
        return field == "<>4__this" ? "this" : end > 1 ? field[1..end] : field;
    }
}
