using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.MethodBodies;

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
        if (type.IsGenericType && Collections.MakerOf.TryGetValue(type.GetGenericTypeDefinition(), out string? maker))
            return OfCollection(maker, type);
        if (type.GetCustomAttribute<ImageShapeAttribute>(inherit: true) is { } own) return own.ShapeOf(type);
        if (type == typeof(RemoteCallException)) return new FailureShape();
        if (type == typeof(object)) return new FieldsShape(type);
        if (typeof(Delegate).IsAssignableFrom(type)) return new DelegateShape(type);
        if (typeof(Exception).IsAssignableFrom(type)) return new FieldsShape(type);
        if (GeneratedNames.IsStatics(type.Name)) return new StaticsShape(type);
        if (type.IsPointer) return null;
        if (type.Assembly == typeof(ObjectShapes).Assembly) return typeof(IImagePart).IsAssignableFrom(type) ? new FieldsShape(type) : null;
        if (IsOfSystem(type) && !type.FullName!.StartsWith("System.Tuple`", StringComparison.Ordinal)) return null;
        // A class of the app that derives from one of the framework has state that is not known here.
        for (Type? parent = type.BaseType; parent is not null && parent != typeof(object); parent = parent.BaseType)
            if (IsOfSystem(parent)) return null;
        return new FieldsShape(type);
    }

    private static ObjectShape OfGeneric(Type definition, Type argument) =>
        (ObjectShape)Activator.CreateInstance(definition.MakeGenericType(argument), nonPublic: true)!;

    private static ObjectShape OfCollection(string maker, Type type) =>
        (ObjectShape)typeof(Collections).GetMethod(maker, BindingFlags.Static | BindingFlags.NonPublic)!
            .MakeGenericMethod(type.GetGenericArguments()).Invoke(null, null)!;
}
