using System.Collections;
using System.Reflection;

namespace Ambrosia.State;

/// <summary>
/// Tells which locals of a suspended method stand for nothing. A Debug build keeps every local, also those whose scope has ended. A
/// finished or untouched enumerator of a collection is such a remainder; one that is alive over an await cannot be written, unless it is
/// that of a list.
/// </summary>
internal static class DeadLocal
{
    private const BindingFlags Private = BindingFlags.Instance | BindingFlags.NonPublic;

    /// <summary>Says whether a local of this type may be a remainder, so that <see cref="Is"/> has to look.</summary>
    internal static bool CanBe(Type type) =>
        type.IsValueType && type.IsNested && typeof(IEnumerator).IsAssignableFrom(type) && ObjectShapes.IsOfSystem(type)
        && !(type.IsGenericType && type.GetGenericTypeDefinition() == typeof(List<>.Enumerator));

    /// <summary>
    /// Says whether the field can be left out, because it holds an enumerator of the framework that has come to its end or has not begun.
    /// </summary>
    internal static bool Is(FieldInfo field, object machine)
    {
        Type type = field.FieldType;
        object enumerator = field.GetValue(machine)!;
        object? collection = CollectionOf(type)?.GetValue(enumerator);
        if (collection is null) return true; // default
        return type.GetField("_index", Private)?.GetValue(enumerator) is int index
            && collection.GetType().GetField("_count", Private)?.GetValue(collection) is int count && index == count + 1;
    }

    private static FieldInfo? CollectionOf(Type enumerator) =>
        Array.Find(enumerator.GetFields(Private),
            static field => !field.FieldType.IsValueType && typeof(IEnumerable).IsAssignableFrom(field.FieldType));
}
