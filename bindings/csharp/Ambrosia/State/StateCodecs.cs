using System.Collections.Concurrent;
using System.ComponentModel;
using System.Runtime.CompilerServices;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// Keeps the generated codecs of all types, as their assemblies announce them, and those of the framework's plain structs. A codec is used
/// only if its fields are those that the type has: one that misses a field (of a base class in an assembly that was compiled without the
/// generator) would lose state. Any thread may call it.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class StateCodecs
{
    private static readonly ConcurrentDictionary<Type, Func<StateCodec>> s_makers = new();
    private static readonly ConcurrentDictionary<Type, Type> s_generic = new(FrameworkCodecs.ByDefinition);

    public static void Add<T>(Func<StateCodec<T>> make) => s_makers[typeof(T)] = make;

    /// <param name="definition">An open generic type, with as many parameters as <paramref name="codec"/>.</param>
    public static void AddGeneric(Type definition, Type codec) => s_generic[definition] = codec;

    /// <summary>Returns the codec of a type; null when its fields are reached by reflection.</summary>
    internal static StateCodec? Of(Type type)
    {
        RuntimeHelpers.RunModuleConstructor(type.Module.ModuleHandle);
        StateCodec? made = s_makers.TryGetValue(type, out Func<StateCodec>? make) ? make()
            : type.IsConstructedGenericType && s_generic.TryGetValue(type.GetGenericTypeDefinition(), out Type? codec)
                ? (StateCodec)Activator.CreateInstance(codec.MakeGenericType(type.GetGenericArguments()), nonPublic: true)!
            : null;
        return made is not null && made.Names.AsSpan().SequenceEqual(StateFields.NamesOf(type)) ? made : null;
    }
}
