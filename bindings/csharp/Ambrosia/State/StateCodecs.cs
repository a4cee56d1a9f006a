using System.Collections.Concurrent;
using System.ComponentModel;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>Writes and reads the fields of one type in images. Generated code derives from it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class StateCodec
{
    private protected StateCodec()
    {
    }

    /// <summary>
    /// The names of the fields in the order in which they are written: base class first, then as declared. They are those that an image
    /// holds.
    /// </summary>
    public abstract string[] Names { get; }

    internal abstract Type Type { get; }

    internal abstract void WriteBoxed(GraphWriter graph, ref CborWriter to, object instance);

    internal abstract void ReadBoxed(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, object instance);
}

/// <inheritdoc/>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class StateCodec<T> : StateCodec
{
    /// <summary>Writes all fields: one item each, in the order of <see cref="StateCodec.Names"/>, without a head.</summary>
    public abstract void Write(GraphWriter graph, ref CborWriter to, T value);

    /// <summary>
    /// Reads one item for each of <paramref name="fields"/>, which are places in <see cref="StateCodec.Names"/>; the item of any other
    /// number is skipped.
    /// </summary>
    public abstract void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref T value);

    internal sealed override Type Type => typeof(T);

    internal sealed override void WriteBoxed(GraphWriter graph, ref CborWriter to, object instance) => Write(graph, ref to, (T)instance);

    internal sealed override void ReadBoxed(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, object instance)
    {
        if (typeof(T).IsValueType) Read(graph, ref from, fields, ref Boxes.In<T>(instance));
        else
        {
            var target = (T)instance;
            Read(graph, ref from, fields, ref target);
        }
    }
}

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
