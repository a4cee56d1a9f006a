// Writes an object graph: every object once, under an id in the order of first encounter, breadth first with a work list, so that a long
// chain of objects does not recurse. References are ids, so sharing and cycles survive. Two graphs that are equal give equal bytes.
using System.Buffers;
using System.ComponentModel;
using System.Reflection;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>What generated code writes the fields of an object to. Made by the binding for one image; one thread.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class GraphWriter
{
    /// <summary>What fits an array, with room for the object that crosses the limit and for the tables in front.</summary>
    internal const int BytesMaxDefault = int.MaxValue - (64 << 20);

    private static long s_graphs;
    private readonly Dictionary<object, int> ids = new(ReferenceEqualityComparer.Instance);
    private readonly List<(object Instance, WrittenType Type)> objects = [];
    private readonly Dictionary<Type, WrittenType> byClass = [];
    private readonly Dictionary<Type, int> typeIds = [];
    private readonly List<Type> types = [];
    private readonly ArrayBufferWriter<byte> bodies = new();
    private readonly WritingPlace place = new();
    private readonly Moving? moving;
    private readonly int bytesMax;

    /// <param name="isReflective">No generated code is used: for tests, which compare the two.</param>
    /// <param name="moving">What is written is for another class of immortal; null: for this one.</param>
    /// <param name="bytesMax">A graph that takes more is refused, by every replica alike.</param>
    internal GraphWriter(bool isReflective = false, Moving? moving = null, int bytesMax = BytesMaxDefault)
    {
        this.bytesMax = bytesMax;
        IsReflective = isReflective;
        this.moving = moving;
        Bodies = new BodyUse(moving);
    }

    internal bool IsReflective { get; }

    /// <summary>Tells graphs apart in one process; no part of an image.</summary>
    internal long Serial { get; } = Interlocked.Increment(ref s_graphs);

    /// <summary>The bodies that what was written depends on.</summary>
    internal BodyUse Bodies { get; }

    /// <summary>The value of a field of the object that is being written.</summary>
    public void WriteField<T>(ref CborWriter to, StateCodec of, int field, T value)
    {
        place.At(of, field);
        SlotOf<T>(typeof(T)).Write(this, ref to, value);
    }

    /// <inheritdoc cref="WriteField"/>
    public void WriteReference(ref CborWriter to, StateCodec of, int field, object? value)
    {
        place.At(of, field);
        WriteReference(ref to, value);
    }

    public void WriteText(ref CborWriter to, string? value) => Texts.Write(ref to, value);

    internal void WriteReference(ref CborWriter to, object? value)
    {
        if (value is null) to.WriteNull();
        else to.WriteUInt64((ulong)IdOf(value));
    }

    /// <summary>The object that a delegate calls its method on.</summary>
    internal void WriteTarget(ref CborWriter to, Type declaring, object? target)
    {
        place.AtTargetOf(declaring);
        WriteReference(ref to, target);
    }

    /// <summary>The class that stands for another in this image.</summary>
    internal Type ClassInImage(Type type) => moving?.ClassOf(type) ?? type;

    /// <summary>Id of an object; it is written later if this is its first mention.</summary>
    internal int IdOf(object instance)
    {
        if (moving is not null) instance = moving.Successor(instance, place);
        if (ids.TryGetValue(instance, out int known)) return known;
        WrittenType type = ClassOf(instance);
        if (type.IsDelegate && !place.IsLocal) throw CannotWrite(type.InImage, " outside the locals of a method");
        int id = objects.Count;
        ids.Add(instance, id);
        objects.Add((instance, type));
        return id;
    }

    /// <summary>Writes everything reachable from what was mentioned, and then nothing can be added.</summary>
    /// <exception cref="NotWritableException">Something of it cannot be written, or it is too large.</exception>
    internal void WriteAll()
    {
        var to = new CborWriter(bodies);
        for (int i = 0; i < objects.Count; i++)
        {
            (object instance, WrittenType type) = objects[i];
            if (type.Id < 0) type.Id = Mention(type.InImage);
            to.WriteUInt64((ulong)type.Id);
            At(null);
            type.Shape.Write(this, ref to, instance);
            if (bodies.Capacity <= bytesMax) continue;
            to.Flush(); // counts what was written
            if (bodies.WrittenCount > bytesMax)
                throw new NotWritableException($"the state takes more than {bytesMax:N0} bytes, the longest image of this binding");
        }
        to.Flush();
    }

    /// <summary>The table of types with their field names, then the objects.</summary>
    internal void CopyTo(ref CborWriter to)
    {
        to.WriteArrayHeader(types.Count);
        foreach (Type type in types)
        {
            string[] names = HasFields(type) ? StateFields.NamesOf(type) : [];
            to.WriteArrayHeader(2);
            TypeNames.Write(ref to, type, moving);
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
        if (NumberedCases.WhyNotWritable(type) is { } why) throw CannotWrite(type, why);
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
        if (state >= 0 && BodyTable.OwnerOf(machine) is var (row, type))
            Bodies.Waiting(NameOf(machine.Assembly), row, type, state, forWhat);
    }

    /// <summary>The name of a lambda or local function, whose method the image then depends on.</summary>
    internal string? NameOfFunction(MethodInfo method)
    {
        if (BodyTable.OwnerOf(method) is not var (row, function)) return null;
        Bodies.Add(NameOf(method.Module.Assembly), row, null);
        return TypeNames.OfMade(row, function.Role, method.Module.Assembly, moving);
    }

    internal void At(FieldInfo? writing) => place.At(writing);

    internal void AtElementOf(Type collection) => place.AtElementOf(collection);

    internal NotWritableException CannotWrite(Type type, string? how = null) =>
        new($"{place}: {WritingPlace.Readable(type)}{how} cannot be written");

    private Slot<T> SlotOf<T>(Type type)
    {
        try
        {
            return Ambrosia.SlotOf<T>.Get();
        }
        catch (NotWritableException)
        {
            throw CannotWrite(type);
        }
    }

    private WrittenType ClassOf(object instance)
    {
        Type type = instance.GetType();
        if (!byClass.TryGetValue(type, out WrittenType? known))
        {
            bool isFrame = type.IsGenericType && type.GetGenericTypeDefinition() == typeof(Frame<,>);
            byClass.Add(type, known = new WrittenType(type, ObjectShapes.Of(type) ?? throw CannotWrite(type), isFrame));
        }
        // A method that is finished is its result, whatever its body was.
        return known.IsFrame && ((Source)instance).IsDone ? known.Finished ??= Finished(type) : known;
    }

    private WrittenType Finished(Type frame)
    {
        Type result = typeof(Source<>).MakeGenericType(frame.GetGenericArguments()[1]);
        return new WrittenType(result, ObjectShapes.Of(result) ?? throw CannotWrite(result), isFrame: false);
    }

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

    /// <summary>A class of objects in this graph.</summary>
    private sealed class WrittenType(Type inImage, ObjectShape shape, bool isFrame)
    {
        internal Type InImage => inImage;

        internal ObjectShape Shape => shape;

        internal bool IsFrame => isFrame;

        internal bool IsDelegate { get; } = typeof(Delegate).IsAssignableFrom(inImage);

        /// <summary>In the table of types; -1: not yet.</summary>
        internal int Id { get; set; } = -1;

        /// <summary>Of a frame: what it is when its method has ended.</summary>
        internal WrittenType? Finished { get; set; }
    }
}
