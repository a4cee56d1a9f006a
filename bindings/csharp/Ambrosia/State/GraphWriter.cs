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
    private readonly WritingPlace place = new();

    /// <summary>The bodies that what was written depends on.</summary>
    internal BodyUse Bodies { get; } = new();

    /// <summary>Id of an object; it is written later if this is its first mention.</summary>
    internal int IdOf(object instance)
    {
        if (ids.TryGetValue(instance, out int known)) return known;
        Type type = TypeInImage(instance);
        if (ObjectShapes.Of(type) is null) throw CannotWrite(type);
        if (instance is Delegate && !place.IsLocal) throw CannotWrite(type, " outside the locals of a method");
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
            TypeNames.Write(ref to, type);
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
        Depend(type);
        typeIds.Add(type, types.Count);
        types.Add(type);
        return types.Count - 1;
    }

    /// <summary>A method that is suspended at this state is being written.</summary>
    internal void Suspended(Type machine, int state)
    {
        if (BodyTable.OwnerOf(machine) is not var (row, type)) throw Unknown(machine);
        place.Enter(row, type, state);
        if (state >= 0) Bodies.Suspended(NameOf(machine.Assembly), row, type, state);
    }

    /// <summary>What a suspended method waits for, for the line that would refuse it.</summary>
    internal void Waiting(Type machine, int state, string forWhat)
    {
        if (state >= 0 && BodyTable.OwnerOf(machine) is var (row, type)) Bodies.Waiting(NameOf(machine.Assembly), row, type, state, forWhat);
    }

    /// <summary>The name of a lambda or local function, whose method the image then depends on.</summary>
    internal string? NameOfFunction(MethodInfo method)
    {
        if (BodyTable.OwnerOf(method) is not var (row, function)) return null;
        Bodies.Add(NameOf(method.Module.Assembly), row, null);
        return TypeNames.OfMade(row, function.Role, method.Module.Assembly);
    }

    internal void At(FieldInfo? writing) => place.At(writing);

    internal void AtElementOf(Type collection) => place.AtElementOf(collection);

    internal NotWritableException CannotWrite(Type type, string? how = null) => new($"{place}: {WritingPlace.Readable(type)}{how} cannot be written");

    /// <summary>Generic arguments are types that the image depends on, too.</summary>
    private void Depend(Type type)
    {
        if (type.IsArray) Depend(type.GetElementType()!);
        if (type.IsConstructedGenericType)
            foreach (Type argument in type.GetGenericArguments()) Depend(argument);
        if (BodyTable.OwnerOf(type) is var (row, owned)) Bodies.Add(NameOf(type.Assembly), row, owned);
        else if (GeneratedNames.IsClosure(type.Name)) throw Unknown(type);
    }

    private static NotWritableException Unknown(Type made) => new(
        $"the body of {WritingPlace.Readable(made.DeclaringType ?? made)} is not known: {BodyTable.Of(made.Assembly).Missing ?? $"no method refers to {made.Name}"}");

    private static string NameOf(Assembly assembly) => assembly.GetName().Name!;

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
}
