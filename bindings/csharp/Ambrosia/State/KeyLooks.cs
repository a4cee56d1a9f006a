using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Ambrosia.State;

/// <summary>Says how far the hash, the equality or the order of a key looks into the key.</summary>
internal enum KeyLook
{
    /// <summary>Nowhere: its identity or its own value decides.</summary>
    Nothing,

    /// <summary>At its fields, each as far as their own types look.</summary>
    Fields,

    /// <summary>Code of the app decides, which may look at everything that the key reaches.</summary>
    Everything,
}

/// <summary>Judges types of keys by what a collection that holds them calls. Any thread may call it.</summary>
internal static class KeyLooks
{
    private static readonly ConcurrentDictionary<Type, KeyLook> s_ofHash = new();

    /// <summary>Returns how far the default comparer for hashes looks into a key of exactly this type.</summary>
    internal static KeyLook OfHash(Type type) => s_ofHash.GetOrAdd(type, Judge);

    /// <summary>Returns how far the default comparer for orders looks into a key of exactly this type.</summary>
    internal static KeyLook OfOrder(Type type) =>
        IsPlain(type) ? KeyLook.Nothing : IsTuple(type) ? KeyLook.Fields : KeyLook.Everything;

    /// <summary>Says whether nothing that belongs to a value of the type can change while the value stands in its place.</summary>
    internal static bool IsFixed(Type type) =>
        IsPlain(type) || (type.IsValueType && StateSerializers.Of(type) is null
            && Array.TrueForAll(
                type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic), static each => IsFixed(each.FieldType)));

    private static KeyLook Judge(Type type)
    {
        if (IsPlain(type) || type.IsArray || typeof(Delegate).IsAssignableFrom(type)) return KeyLook.Nothing;
        if (IsTuple(type)) return KeyLook.Fields;
        if (typeof(Exception).IsAssignableFrom(type) && ObjectShapes.IsOfSystem(type)) return KeyLook.Nothing;
        if (type.GetInterfaces().Any(static each => each.IsGenericType && each.GetGenericTypeDefinition() == typeof(IEquatable<>)))
            return IsByFields(type) ? KeyLook.Fields : KeyLook.Everything;
        Type hash = DeclaringOf(type, nameof(GetHashCode)), equality = DeclaringOf(type, nameof(Equals), typeof(object));
        if (hash == typeof(object) && equality == typeof(object)) return KeyLook.Nothing;
        if (hash == typeof(ValueType) && equality == typeof(ValueType)) return KeyLook.Fields;
        return IsByFields(type) ? KeyLook.Fields : KeyLook.Everything;
    }

    private static Type DeclaringOf(Type type, string method, params Type[] parameters) =>
        type.GetMethod(method, BindingFlags.Instance | BindingFlags.Public, parameters)?.DeclaringType ?? typeof(object);

    /// <summary>Says whether the compiler made all of the type's equality, as it does for records and anonymous types.</summary>
    private static bool IsByFields(Type type)
    {
        for (Type? at = type; at is not null && at != typeof(object) && at != typeof(ValueType); at = at.BaseType)
        {
            if (at.Name.StartsWith("<>f__AnonymousType", StringComparison.Ordinal)) continue;
            MethodInfo[] own = [.. at.GetMethods(BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly)
                .Where(static each => each.Name is nameof(Equals) or nameof(GetHashCode))];
            if (own.Length == 0 || own.Any(static each => !each.IsDefined(typeof(CompilerGeneratedAttribute), inherit: false))) return false;
        }
        return true;
    }

    internal static bool IsPlain(Type type) => type == typeof(string) || type.IsEnum || Slots.IsPrimitive(type);

    private static bool IsTuple(Type type) =>
        type.IsGenericType && ObjectShapes.IsOfSystem(type)
        && (type.FullName!.StartsWith("System.ValueTuple`", StringComparison.Ordinal)
            || type.FullName.StartsWith("System.Tuple`", StringComparison.Ordinal)
            || type.GetGenericTypeDefinition() == typeof(KeyValuePair<,>) || type.GetGenericTypeDefinition() == typeof(Nullable<>));
}
