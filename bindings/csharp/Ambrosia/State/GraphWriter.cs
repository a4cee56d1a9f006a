// Writes an object graph: every object once, under an id in the order of first encounter, breadth first with a work list, so that a long
// chain of objects does not recurse. References are ids, so sharing and cycles survive. Two graphs that are equal give equal bytes.
using System.Buffers;
using System.Reflection;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class GraphWriter
{
    private readonly Dictionary<object, int> ids = new(ReferenceEqualityComparer.Instance);
    private readonly List<(object Instance, Type Type)> objects = [];
    private readonly Dictionary<Type, int> typeIds = [];
    private readonly List<Type> types = [];
    private readonly ArrayBufferWriter<byte> bodies = new();

    // Where the writer is, for the message that names what cannot be written.
    private FieldInfo? field;
    private Type? elementOf;

    /// <summary>Id of an object; it is written later if this is its first mention.</summary>
    internal int IdOf(object instance)
    {
        if (ids.TryGetValue(instance, out int known)) return known;
        Type type = TypeInImage(instance);
        if (ObjectShapes.Of(type) is null) throw CannotWrite(type);
        int id = objects.Count;
        ids.Add(instance, id);
        objects.Add((instance, type));
        return id;
    }

    /// <summary>Writes everything reachable from what was mentioned, and then nothing can be added.</summary>
    internal void WriteAll()
    {
        var to = new CborWriter(bodies);
        for (int i = 0; i < objects.Count; i++)
        {
            (object instance, Type type) = objects[i];
            to.WriteUInt64((ulong)Mention(type));
            At(null);
            ObjectShapes.Of(type)!.Write(this, ref to, instance);
        }
        to.Flush();
    }

    /// <summary>The table of types with their field names, then the objects.</summary>
    internal void CopyTo(ref CborWriter to)
    {
        to.WriteArrayHeader(types.Count);
        foreach (Type type in types)
        {
            string[] names = HasFields(type) ? [.. FieldPlan.Of(type).Names] : [];
            to.WriteArrayHeader(2);
            to.WriteString(TypeNames.Of(type));
            to.WriteArrayHeader(names.Length);
            foreach (string name in names) to.WriteString(name);
        }
        to.WriteArrayHeader(2 * objects.Count);
        to.WriteEncoded(bodies.WrittenSpan);
    }

    /// <summary>Index of a type in the table.</summary>
    internal int Mention(Type type)
    {
        if (typeIds.TryGetValue(type, out int known)) return known;
        typeIds.Add(type, types.Count);
        types.Add(type);
        return types.Count - 1;
    }

    internal void At(FieldInfo? writing)
    {
        field = writing;
        elementOf = null;
    }

    internal void AtElementOf(Type collection) => elementOf = collection;

    internal NotWritableException CannotWrite(Type type, string? how = null)
    {
        string place = elementOf is not null ? $"an element of {Readable(elementOf)}"
            : field is not null ? $"field {Readable(field.DeclaringType!)}.{FieldName(field)}"
            : "the state";
        return new NotWritableException($"{place}: {Readable(type)}{how} cannot be written");
    }

    private static bool HasFields(Type type) => type.IsValueType
        ? Slots.Of(type) is { } slot && slot.GetType().GetGenericTypeDefinition() == typeof(StructSlot<>)
        : ObjectShapes.Of(type)?.Plan is not null;

    /// <summary>A method that is finished is its result, whatever its body was.</summary>
    private static Type TypeInImage(object instance)
    {
        Type type = instance.GetType();
        return type.IsGenericType && type.GetGenericTypeDefinition() == typeof(Frame<,>) && ((Source)instance).IsDone
            ? typeof(Source<>).MakeGenericType(type.GetGenericArguments()[1])
            : type;
    }

    private static string FieldName(FieldInfo field)
    {
        int end = field.Name.IndexOf('>');
        return field.Name.StartsWith('<') && end > 1 ? field.Name[1..end] : field.Name;
    }

    private static string Readable(Type type)
    {
        if (!type.IsGenericType) return type.IsNested ? $"{type.DeclaringType!.Name}.{type.Name}" : ObjectShapes.IsOfSystem(type) ? type.FullName ?? type.Name : type.Name;
        int tick = type.Name.IndexOf('`');
        string name = tick < 0 ? type.Name : type.Name[..tick];
        return $"{name}<{string.Join(", ", type.GetGenericArguments().Select(Readable))}>";
    }
}
