using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;
using Ambrosia.Suspension;

namespace Ambrosia.State;

/// <summary>Holds the table of types of an image that is being read, by number, beside the types of this app.</summary>
internal sealed class ImageTypes
{
    private readonly ImageType[] _rows;
    private readonly Dictionary<Type, ImageType> _byType = [];

    private ImageTypes(ImageType[] rows, KeptBodies kept) => (_rows, Kept) = (rows, kept);

    internal static ImageTypes None { get; } = new([], KeptBodies.None);

    /// <summary>The methods of the image that go on in kept bodies.</summary>
    internal KeptBodies Kept { get; }

    internal int Count => _rows.Length;

    /// <exception cref="InvalidDataException">The table has no such row.</exception>
    internal ImageType this[ulong row] =>
        row < (ulong)_rows.Length ? _rows[row] : throw new InvalidDataException($"The image names type {row} of {_rows.Length}.");

    /// <param name="renamed">See <see cref="RenamedClass"/>; null: no class of this app has the name of another one in the image.</param>
    internal static ImageTypes Read(ref CborReader from, KeptBodies kept, RenamedClass? renamed)
    {
        var types = new ImageTypes(new ImageType[from.ReadArrayHeader()], kept);
        for (int i = 0; i < types._rows.Length; i++)
        {
            ImageType row = ReadRow(ref from, kept);
            if (renamed is { } names && row.Type == names.Successor) row = row with { Type = names.Former };
            types._rows[i] = row;
            types.HasOtherNumbers |= row.Numbers is not null;
            if (row.Type is not null) types._byType[row.Type] = row;
        }
        return types;
    }

    /// <summary>True if some enum of the image has other numbers in this build.</summary>
    internal bool HasOtherNumbers { get; private set; }

    /// <summary>Returns the row of a type of this app; null where the image does not name it.</summary>
    internal ImageType? Of(Type type) => _byType.GetValueOrDefault(type);

    private static ImageType ReadRow(ref CborReader from, KeptBodies kept)
    {
        if (from.ReadArrayHeader() != 3) throw new InvalidDataException("The image describes a type in another form.");
        Type? type = TypeNames.Read(ref from, kept, out string? missing);
        ulong kind = from.ReadUInt64();
        if (kind > (ulong)TypeKind.Other) throw new InvalidDataException($"The image describes a type of kind {kind}.");
        int items = from.ReadArrayHeader();
        if ((TypeKind)kind == TypeKind.Enum && items > 0) return ReadEnum(ref from, items, type, missing);
        string[] members = new string[items];
        for (int i = 0; i < members.Length; i++) members[i] = from.ReadString();
        return new ImageType(type, missing, (TypeKind)kind, members);
    }

    private static ImageType ReadEnum(ref CborReader from, int items, Type? type, string? missing)
    {
        string slot = from.ReadString();
        var members = new EnumMember[(items - 1) / 2];
        for (int i = 0; i < members.Length; i++)
        {
            string name = from.ReadString();
            Int128 number = from.PeekKind() == CborKind.Unsigned ? from.ReadUInt64() : from.ReadInt64();
            members[i] = new EnumMember(name, number, []);
        }
        if (items % 2 == 0) throw new InvalidDataException($"The image describes the enum {missing ?? type!.ToString()} in another form.");
        return new ImageType(type, missing, TypeKind.Enum, [slot])
        {
            Numbers = type is { IsEnum: true } ? EnumMembers.Find(type, members) : null,
        };
    }
}

/// <summary>
/// The class of a version before has another name in this app than in the image, since the one that follows it has taken its name: the
/// image means the former one.
/// </summary>
internal readonly record struct RenamedClass(Type Successor, Type Former);

/// <summary>Describes a type as an image does.</summary>
/// <param name="Type">The type of this app; null where it has none of this name, which <paramref name="Missing"/> is then.</param>
/// <param name="Members">Names and slots of fields one behind another, or the slots of elements.</param>
internal sealed record ImageType(Type? Type, string? Missing, TypeKind Kind, string[] Members)
{
    /// <summary>The numbers of this build for those of the image's enum; null: they are equal, or it is no enum.</summary>
    internal EnumNames? Numbers { get; init; }

    private FieldPlan? _plan;
    private (bool IsKnown, PackedForm? Form) _packed;

    internal bool HasFields => Kind is TypeKind.Class or TypeKind.Struct or TypeKind.SuspendedMethod;

    /// <summary>Says how the fields of the type stand in the image.</summary>
    /// <exception cref="InvalidDataException">The image does not name them, or names others than the compiler made.</exception>
    internal FieldPlan Plan => _plan ??= HasFields && Type is not null
        ? FieldPlan.Named(Type, [.. Members.Where(static (_, i) => i % 2 == 0)])
        : throw new InvalidDataException($"The image does not name the fields of {Missing ?? Type!.ToString()}.");

    /// <summary>Returns the form of elements that stand as one byte string; null: they do not.</summary>
    /// <exception cref="InvalidDataException">They do, and are no numbers.</exception>
    internal PackedForm? PackedIn(ImageTypes types)
    {
        if (!_packed.IsKnown) _packed = (true, FindPacked(types));
        return _packed.Form;
    }

    private PackedForm? FindPacked(ImageTypes types)
    {
        if (Kind is not (TypeKind.Array or TypeKind.Sequence or TypeKind.Map) || !Array.TrueForAll(Members, IsPacked)) return null;
        string[] slots = Array.ConvertAll(Members, static member => member[SlotTexts.Packed.Length..]);
        return slots.Length == (Kind == TypeKind.Map ? 2 : 1) && PackedForm.Of(slots, types) is { } form ? form
            : throw new InvalidDataException($"The image holds a packed {Missing ?? Type!.ToString()} whose elements are no numbers.");
    }

    private static bool IsPacked(string slot) => slot.StartsWith(SlotTexts.Packed, StringComparison.Ordinal);
}
