using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.MethodBodies;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Keeps the shapes of all classes that an image can hold, which are made at first use, and knows which cannot be written. Any thread may
/// call it.
/// </summary>
internal static class ObjectShapes
{
    private static readonly ConcurrentDictionary<Type, ObjectShape?> s_byType = new();

    /// <summary>Returns the shape of a class; null when its objects cannot be written.</summary>
    internal static ObjectShape? Of(Type type) => s_byType.GetOrAdd(type, Make);

    /// <summary>Lets the shape of a type be made anew, because something has changed what is known of the type.</summary>
    internal static void Forget(Type type) => s_byType.TryRemove(type, out _);

    /// <summary>Says whether the type is one of the framework: such a type is written only if its meaning is known here.</summary>
    internal static bool IsOfSystem(Type type) => IsOfSystem(type.Assembly);

    internal static bool IsOfSystem(Assembly assembly)
    {
        if (assembly == typeof(object).Assembly) return true;
        string name = assembly.GetName().Name ?? "";
        return name is "System" or "mscorlib" or "netstandard"
            || name.StartsWith("System.", StringComparison.Ordinal) || name.StartsWith("Microsoft.", StringComparison.Ordinal);
    }

    /// <summary>Says how the table keeps a type of the framework or of this library; of others it knows nothing.</summary>
    internal static Kept HowOf(Type type) =>
        IsOfSystem(type) || type.Assembly == typeof(ObjectShapes).Assembly ? KeptTypes.HowOf(NameOf(type)) : Kept.No;

    /// <summary>Says what to do instead of keeping a type that is refused; null where the table does not know.</summary>
    internal static string? InsteadOf(Type type)
    {
        for (Type? at = type; at is not null; at = at.BaseType)
            if (IsOfSystem(at) && KeptTypes.InsteadOf(NameOf(at)) is { } instead) return instead;
        return null;
    }

    private static string NameOf(Type type) => (type.IsGenericType ? type.GetGenericTypeDefinition() : type).FullName ?? "";

    private static ObjectShape? Make(Type type)
    {
        try
        {
            return MakeUnchecked(type);
        }
        catch (Exception e) when (e is NotWritableException || e.InnerException is NotWritableException)
        {
            return null;
        }
    }

    private static ObjectShape? MakeUnchecked(Type type)
    {
        if (!type.IsValueType && StateSerializers.Of(type) is { } serializer)
            return (ObjectShape)Activator.CreateInstance(typeof(SerializedShape<>).MakeGenericType(type), serializer)!;
        if (type.IsArray) return type.IsSZArray ? OfGeneric(typeof(VectorShape<>), type.GetElementType()!) : new GridShape(type);
        if (type.IsDefined(typeof(InlineArrayAttribute), inherit: false)) return null;
        if (type == typeof(string) || type.IsValueType) return OfGeneric(typeof(BoxShape<>), type);
        Kept how = HowOf(type);
        if (how is Kept.Collection or Kept.Ordered)
        {
            return Collections.MakerOf.TryGetValue(type.GetGenericTypeDefinition(), out string? maker)
                ? OfCollection(maker, type, typeof(Collections))
                : OfCollection(ImmutableCollections.MakerOf[type.GetGenericTypeDefinition()], type, typeof(ImmutableCollections));
        }
        if (type.GetCustomAttribute<ImageShapeAttribute>(inherit: true) is { } own) return own.ShapeOf(type);
        if (type == typeof(RemoteCallException)) return new FailureShape();
        if (type == typeof(object)) return new FieldsShape(type);
        if (typeof(Delegate).IsAssignableFrom(type)) return new DelegateShape(type);
        if (typeof(Exception).IsAssignableFrom(type)) return new ExceptionShape(type);
        if (GeneratedNames.IsStatics(type.Name)) return new StaticsShape(type);
        if (type.IsPointer) return null;
        if (type.Assembly == typeof(ObjectShapes).Assembly) return typeof(IImagePart).IsAssignableFrom(type) ? new FieldsShape(type) : null;
        if (IsOfSystem(type) && how != Kept.Fields) return null;
        // A class of the app that derives from one of the framework has state that is not known here.
        for (Type? parent = type.BaseType; parent is not null && parent != typeof(object); parent = parent.BaseType)
            if (IsOfSystem(parent)) return null;
        return new FieldsShape(type);
    }

    private static ObjectShape OfGeneric(Type definition, Type argument) =>
        (ObjectShape)Activator.CreateInstance(definition.MakeGenericType(argument), nonPublic: true)!;

    private static ObjectShape OfCollection(string maker, Type type, Type makers) =>
        (ObjectShape)makers.GetMethod(maker, BindingFlags.Static | BindingFlags.NonPublic)!
            .MakeGenericMethod(type.GetGenericArguments()).Invoke(null, null)!;
}

/// <summary>
/// Writes and reads the objects of one class in an image: the body of each as one CBOR item. They are restored in two steps, because
/// objects refer to each other. One shape serves all images, on any thread.
/// </summary>
internal abstract class ObjectShape
{
    /// <summary>True when an object is filled after all others: its content is hashed or compared, so it must be whole before.</summary>
    internal virtual bool IsFilledLast => false;

    /// <summary>The type of what is hashed or compared; null: nothing is.</summary>
    internal virtual Type? KeyType => null;

    /// <summary>True when keys are compared by their order, not by their hashes.</summary>
    internal virtual bool ComparesKeys => false;

    /// <summary>True when an object is allocated after all others, because it is made of one of them.</summary>
    internal virtual bool IsMadeLate => false;

    /// <summary>
    /// Says whether the objects of this image refer to nothing, so that they are whole when they are allocated, and are not filled.
    /// </summary>
    internal virtual bool IsMadeWhole(GraphReader graph) => false;

    /// <summary>The kind of the bodies of these objects, as the image's table of types says it.</summary>
    internal abstract TypeKind Kind { get; }

    /// <summary>Returns the places in a body: the names and slots of fields, or the slots of elements.</summary>
    internal virtual string[] Members(GraphWriter graph) => [];

    internal abstract void Write(GraphWriter graph, ref CborWriter to, object instance);

    /// <summary>
    /// Returns what stands for an object that a process has once, whoever refers to it: those with an equal one are one object of the
    /// image. A process that was restored has its own beside what the image brought. Null: the object stands for itself.
    /// </summary>
    internal virtual object? ValueOf(object instance) => null;

    /// <summary>
    /// Makes an empty object of the class; <paramref name="from"/> is at its body, for those that need its size or content. One that
    /// is whole then reads the body to its end.
    /// </summary>
    internal abstract object Allocate(GraphReader graph, ref CborReader from);

    /// <summary>Fills an object that was allocated, and reads its body to the end. All others are allocated by then.</summary>
    internal virtual void Fill(GraphReader graph, ref CborReader from, object instance) => graph.Skip(ref from);

    /// <summary>Reads the body of one that is filled last to its end, and reports what it refers to.</summary>
    internal virtual void Report(GraphReader graph, ref CborReader from, FillOrder to) => graph.Skip(ref from);

    /// <summary>Takes out what an object was filled with, so that it can be filled again.</summary>
    internal virtual void Empty(object instance)
    {
    }

    /// <summary>Says why a collection does not find one of its own keys, as that key itself; null: it finds all.</summary>
    internal virtual string? FindLostKey(object instance) => null;
}

/// <summary>
/// Writes a value in a place of type object, which is a box with an identity of its own. Texts and numbers are read at once, structs are
/// filled later.
/// </summary>
internal sealed class BoxShape<T> : ObjectShape
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));

    internal override TypeKind Kind => TypeKind.Box;

    internal override string[] Members(GraphWriter graph) => [_slot.Describe(graph)];

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) => _slot.Write(graph, ref to, (T)instance);

    internal override object? ValueOf(object instance) => instance as string;

    internal override bool IsMadeWhole(GraphReader graph) => _slot.StandsForItself;

    internal override object Allocate(GraphReader graph, ref CborReader from) =>
        _slot.StandsForItself ? _slot.Read(graph, ref from)! : RuntimeHelpers.GetUninitializedObject(typeof(T));

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        if (_slot.IsOfFields) graph.PlanOf(typeof(T)).Read(graph, ref from, instance);
        else Boxes.In<T>(instance) = _slot.Read(graph, ref from);
    }
}

/// <summary>Writes an object by its fields. No constructor runs at a restore.</summary>
internal sealed class FieldsShape(Type type) : ObjectShape
{
    internal override TypeKind Kind => FieldPlan.Of(type).IsSuspendedMethod ? TypeKind.SuspendedMethod : TypeKind.Class;

    internal override string[] Members(GraphWriter graph) => FieldPlan.Of(type).Describe(graph);

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) =>
        FieldPlan.Of(type).Write(graph, ref to, instance);

    internal override object Allocate(GraphReader graph, ref CborReader from) => RuntimeHelpers.GetUninitializedObject(type);

    internal override void Fill(GraphReader graph, ref CborReader from, object instance) =>
        graph.PlanOf(type).Read(graph, ref from, instance);
}

/// <summary>
/// Writes a remote call's failure that the state keeps. Its stack is left out: it is not part of what is replayed, so two replicas' images
/// would differ by it.
/// </summary>
internal sealed class FailureShape : ObjectShape
{
    internal override TypeKind Kind => TypeKind.Other;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        for (var failure = (RemoteCallException?)instance; failure is not null; failure = (RemoteCallException?)failure.InnerException)
        {
            to.WriteArrayHeader(3);
            Texts.Write(ref to, failure.TypeName);
            Texts.Write(ref to, failure.Message);
        }
        to.WriteNull();
    }

    internal override bool IsMadeWhole(GraphReader graph) => true;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        var chain = new Stack<(string? Type, string? Message)>();
        while (!from.TryReadNull())
        {
            from.ReadArrayHeader();
            chain.Push((Texts.Read(ref from), Texts.Read(ref from)));
        }
        RemoteCallException? failure = null;
        foreach ((string? type, string? message) in chain) failure = new RemoteCallException(type ?? "", message ?? "", failure);
        return failure ?? throw new InvalidDataException("The image holds an empty failure.");
    }
}

/// <summary>Writes the objects of a class as the app's serializer says. Each is still one object, however many refer to it.</summary>
internal sealed class SerializedShape<T>(IStateSerializer<T> serializer) : ObjectShape
    where T : class
{
    internal override TypeKind Kind => TypeKind.Opaque;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) =>
        SerializedItem.Write(graph, ref to, (T)instance, serializer);

    internal override bool IsMadeWhole(GraphReader graph) => true;

    internal override object Allocate(GraphReader graph, ref CborReader from) => SerializedItem.Read(ref from, serializer);
}

/// <summary>
/// Writes the compiler's one object for the lambdas without captures as null: it has no state, and each process has its own.
/// </summary>
internal sealed class StaticsShape(Type type) : ObjectShape
{
    internal override TypeKind Kind => TypeKind.Other;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) => to.WriteNull();

    internal override bool IsMadeWhole(GraphReader graph) => true;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        from.ReadNull();
        return Of(type);
    }

    internal static object Of(Type type) => type.GetField("<>9", BindingFlags.Static | BindingFlags.Public)?.GetValue(null)
        ?? throw new InvalidDataException($"The image holds a {type}, which is not what it was.");
}
