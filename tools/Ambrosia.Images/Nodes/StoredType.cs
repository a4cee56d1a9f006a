using Ambrosia.Images.Reading;
using Ambrosia.Protocol.Images;

namespace Ambrosia.Images.Nodes;

/// <summary>It is a class or struct of which values are in an image, with what stands in its fields.</summary>
/// <param name="Name">The name of the type, as a person writes it.</param>
/// <param name="IsStruct">Its values stand in other objects, and are not counted.</param>
/// <param name="Objects">The number of its objects.</param>
public sealed record StoredType(string Name, bool IsStruct, long Objects, IReadOnlyList<StoredField> Fields);

/// <summary>It is an enum of which values may be in an image, with its members of then.</summary>
public sealed record StoredEnum(string Name, IReadOnlyList<EnumMember> Members);

/// <summary>It is a field of such a type.</summary>
/// <param name="StoredName">Its name as it stands in the image, where that of a property is another one.</param>
/// <param name="Slot">What stands in it (docs/image.md I3.5), with the name of a type in place of the number of its row.</param>
/// <param name="Values">The number of objects in which it holds something else than the default of its type.</param>
/// <param name="Classes">The classes of the objects to which it refers.</param>
public sealed record StoredField(string Name, string StoredName, string Slot, long Values, IReadOnlySet<string> Classes);

/// <summary>Finds out what is in the fields of an image's types, by one walk over its objects.</summary>
internal sealed class StoredTypes(CSharpNodes nodes)
{
    private static readonly string s_noGuid = $"\"{Guid.Empty}\"";

    private readonly CSharpImage _image = nodes.Image;

    /// <summary>
    /// Returns the classes and structs, in the order of first mention; what the compiler made of methods is not among them.
    /// </summary>
    internal IReadOnlyList<StoredType> Find()
    {
        var rows = new List<(ImageType Type, Contents Contents)>();
        var byType = new Dictionary<ImageType, Contents>(ReferenceEqualityComparer.Instance);
        foreach (ImageType type in _image.Types.Where(static type => type.Kind is TypeKind.Class or TypeKind.Struct))
        {
            byType.Add(type, new Contents(type.Fields.Length));
            rows.Add((type, byType[type]));
        }
        for (int id = 0; id < _image.Count; id++)
            if (byType.TryGetValue(_image.TypeOf(id), out Contents? contents)) contents.Add(nodes.Object(id));
        return
        [
            .. rows.Select(row => new StoredType(row.Type.Name, row.Type.Kind == TypeKind.Struct, row.Contents.Objects,
                [.. row.Type.Fields.Select((name, i) => new StoredField(
                    name, row.Type.StoredFields[i], TextOf(row.Type.Slots[i]), row.Contents.Values[i], row.Contents.Classes[i]))])),
        ];
    }

    /// <summary>Counts what the objects of one type hold, field by field.</summary>
    private sealed class Contents(int fields)
    {
        public long Objects { get; private set; }

        public long[] Values { get; } = new long[fields];

        public HashSet<string>[] Classes { get; } =
            [.. Enumerable.Range(0, fields).Select(static _ => new HashSet<string>(StringComparer.Ordinal))];

        public void Add(ImageNode of)
        {
            Objects++;
            int field = 0;
            foreach ((_, ImageNode node) in of.Members())
            {
                if (!IsDefault(node)) Values[field]++;
                if (node is ObjectNode { TypeName.Length: > 0 } other) Classes[field].Add(other.TypeName);
                field++;
            }
        }
    }

    /// <summary>Says whether a place holds what a new object holds there: null, zero, or a struct of such.</summary>
    private static bool IsDefault(ImageNode node) =>
        node is not ObjectNode && (node == TextNode.Null || (node.Kind == NodeKind.Value
            ? node.Text is "null" or "0" or "false" or "\"0001-01-01T00:00:00\"" or "\"00:00:00\"" || node.Text == s_noGuid
            : node.Members().All(static each => IsDefault(each.Node))));

    private string TextOf(Slot slot) => slot.Form switch
    {
        SlotForm.Row => $"#{_image.TypeAt(slot.RowNumber).Name}",
        SlotForm.Nullable => $"?{TextOf(slot.Inner!)}",
        _ => slot.Text,
    };
}
