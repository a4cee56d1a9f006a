using System.Collections.Concurrent;
using System.Reflection;

namespace Ambrosia.State;

/// <summary>
/// Finds the serializers of apps by the type that they are for: at the type itself, or announced by the assembly of an immortal. Any thread
/// may call it.
/// </summary>
internal static class StateSerializers
{
    private static readonly ConcurrentDictionary<Type, object> s_announced = new();
    private static readonly ConcurrentDictionary<Assembly, bool> s_read = new();

    /// <summary>Takes what the assembly of an immortal says about types that are not its own.</summary>
    /// <exception cref="InvalidOperationException">It names something that is no serializer, or two assemblies of this process name two
    /// for one type.</exception>
    internal static void Read(Assembly assembly)
    {
        if (s_read.ContainsKey(assembly)) return;
        foreach (StateSerializerAttribute each in assembly.GetCustomAttributes<StateSerializerAttribute>())
        {
            (Type type, object serializer) = Make(each.Serializer, $"assembly {assembly.GetName().Name}");
            object kept = s_announced.GetOrAdd(type, serializer);
            if (kept.GetType() != serializer.GetType())
                throw new InvalidOperationException(
                    $"{type} has two serializers in this process: {kept.GetType()} and {serializer.GetType()}.");
            ObjectShapes.Forget(type); // it was refused before, if it was asked for
        }
        s_read.TryAdd(assembly, true);
    }

    /// <summary>Returns the <see cref="IStateSerializer{T}"/> of a type; null when the type has none.</summary>
    internal static object? Of(Type type)
    {
        if (s_announced.TryGetValue(type, out object? announced)) return announced;
        if (FrameworkSerializers.ByType.TryGetValue(type, out object? framework)) return framework;
        if (type.GetCustomAttributes<StateSerializerAttribute>(inherit: false).FirstOrDefault() is not { } own) return null;
        (Type named, object serializer) = Make(own.Serializer, type.ToString());
        return named == type ? serializer
            : throw new InvalidOperationException($"{type} names {serializer.GetType()}, which is a serializer of {named}.");
    }

    private static (Type Type, object Serializer) Make(Type serializer, string at)
    {
        Type[] written = [
            .. serializer.GetInterfaces()
                .Where(static each => each.IsGenericType && each.GetGenericTypeDefinition() == typeof(IStateSerializer<>))];
        if (written.Length != 1 || serializer.IsAbstract || serializer.GetConstructor(Type.EmptyTypes) is null)
            throw new InvalidOperationException(
                $"{at} names {serializer} as a serializer: it must implement IStateSerializer<T> once and have a public constructor without parameters.");
        return (written[0].GetGenericArguments()[0], Activator.CreateInstance(serializer)!);
    }
}
