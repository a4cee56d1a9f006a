using System.Collections;
using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.MethodBodies;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;

namespace Ambrosia.State;

/// <summary>
/// Writes and reads the fields of a type in the order of an image: by generated code, or one by one through reflection where the compiler
/// made the type or generated code cannot name a field. <see cref="Of"/> makes the plan of this build. <see cref="Named"/> makes one for
/// reading an image from the names that the image holds: fields that this build no longer has are skipped, new ones keep their default. Of
/// what the compiler made of a method every field must be there.
/// </summary>
internal sealed class FieldPlan
{
    private const int Skipped = FieldNames.None;
    private static readonly ConcurrentDictionary<Type, FieldPlan> s_byType = new();
    private readonly Type _type;
    private readonly FieldInfo?[] _fields;
    private readonly Slot?[] _slots;

    /// <summary>
    /// The generated code; null when there is none. It numbers the fields in the order of this build, and <see cref="_places"/> has these
    /// numbers in the order of the image.
    /// </summary>
    private readonly StateCodec? _codec;
    private readonly int[] _places;

    /// <summary>The field that says where a suspended method stands. It is null when the type is no suspended method.</summary>
    private readonly FieldInfo? _state;

    /// <summary>
    /// The place of the id of the thread that made an iterator, which is no state: an iterator is that of the thread which executes the
    /// handlers, in each process. It is -1 when the type is no iterator.
    /// </summary>
    private readonly int _thread;

    /// <summary>True for each field that is a local of a suspended method and may be the remainder of a loop.</summary>
    private readonly bool[] _mayBeDead;

    private FieldPlan(Type type, FieldInfo?[] fields, int[] places)
    {
        _type = type;
        _fields = fields;
        _places = places;
        _codec = StateCodecs.Of(type);
        if (typeof(IAsyncStateMachine).IsAssignableFrom(type)) _state = Array.Find(fields, static field => field?.Name == "<>1__state");
        _thread = !GeneratedNames.IsGenerated(type.Name) ? -1
            : Array.FindIndex(fields, static field => field?.Name == "<>l__initialThreadId");
        _mayBeDead = Array.ConvertAll(fields, field => _state is not null && field is not null && DeadLocal.CanBe(field.FieldType));
        _slots = new Slot?[fields.Length];
    }

    internal static FieldPlan Of(Type type) => s_byType.GetOrAdd(type, static type =>
    {
        FieldInfo[] fields = StateFields.Of(type);
        return new FieldPlan(type, fields, [.. Enumerable.Range(0, fields.Length)]);
    });

    /// <summary>Makes the plan for an image that names the fields so.</summary>
    internal static FieldPlan Named(Type type, string[] names)
    {
        FieldPlan now = Of(type);
        string[] own = StateFields.NamesOf(type);
        if (names.AsSpan().SequenceEqual(own)) return now;
        if (GeneratedNames.IsGenerated(type.Name)) throw new InvalidDataException($"The image holds a {type} with other fields.");
        int[] places = StateFields.Find(type, names);
        return new FieldPlan(type, Array.ConvertAll(places, place => place == Skipped ? null : now._fields[place]), places);
    }

    /// <summary>The generated code; null when the fields are reached by reflection.</summary>
    internal StateCodec? Codec => _codec;

    /// <summary>True if these are the locals of a method that can be suspended.</summary>
    internal bool IsSuspendedMethod => _state is not null;

    /// <summary>Returns the name and the slot of each field, one behind another, for the table of types.</summary>
    internal string[] Describe(GraphWriter graph)
    {
        string[] names = StateFields.NamesOf(_type), described = new string[2 * names.Length];
        for (int i = 0; i < names.Length; i++)
        {
            described[2 * i] = names[i];
            described[2 * i + 1] = (_slots[i] ??= TrySlot(i))?.Describe(graph) ?? SlotTexts.NeverWritten;
        }
        return described;
    }

    internal void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        to.WriteArrayHeader(_fields.Length);
        if (_codec is not null && !graph.IsReflective) _codec.WriteBoxed(graph, ref to, instance);
        else WriteByReflection(graph, ref to, instance);
    }

    internal void Read(GraphReader graph, ref CborReader from, object instance)
    {
        ReadHead(ref from);
        if (_codec is not null && !graph.IsReflective) _codec.ReadBoxed(graph, ref from, _places, instance);
        else ReadByReflection(graph, ref from, instance);
    }

    /// <summary>Writes a value without a box. False: there is no generated code for it, and nothing was written.</summary>
    internal bool TryWrite<T>(GraphWriter graph, ref CborWriter to, T value)
    {
        if (graph.IsReflective || _codec is not StateCodec<T> typed) return false;
        to.WriteArrayHeader(_fields.Length);
        typed.Write(graph, ref to, value);
        return true;
    }

    /// <summary>Reads a value without a box. False: there is no generated code for it, and nothing was read.</summary>
    internal bool TryRead<T>(GraphReader graph, ref CborReader from, ref T value)
    {
        if (graph.IsReflective || _codec is not StateCodec<T> typed) return false;
        ReadHead(ref from);
        typed.Read(graph, ref from, _places, ref value);
        return true;
    }

    private void ReadHead(ref CborReader from)
    {
        int count = from.ReadArrayHeader();
        if (count != _fields.Length)
            throw new InvalidDataException($"The image holds a {_type} of {count} fields where {_fields.Length} are named.");
    }

    private void WriteByReflection(GraphWriter graph, ref CborWriter to, object instance)
    {
        if (_state is not null) graph.Suspended(_type, (int)_state.GetValue(instance)!);
        for (int i = 0; i < _fields.Length; i++)
        {
            FieldInfo field = _fields[i]!;
            graph.EndPlace(ref to);
            graph.At(field);
            if (i == _thread) to.WriteInt64(0);
            else if (_mayBeDead[i] && DeadLocal.Is(field, instance)) to.WriteNull();
            else SlotAt(i, graph).WriteBoxed(graph, ref to, field.GetValue(instance));
        }
    }

    private void ReadByReflection(GraphReader graph, ref CborReader from, object instance)
    {
        for (int i = 0; i < _fields.Length; i++)
        {
            if (_state is not null && from.TryReadNull()) continue; // null, zero or dead: the box is zeroed
            if (i == _thread)
            {
                from.Skip();
                _fields[i]!.SetValue(instance, Environment.CurrentManagedThreadId);
            }
            else if (_fields[i] is { } field) field.SetValue(instance, (_slots[i] ??= Slots.Of(field.FieldType)).ReadBoxed(graph, ref from));
            else from.Skip();
        }
    }

    private Slot SlotAt(int i, GraphWriter graph) => _slots[i] ??= TrySlot(i) ?? throw graph.CannotWrite(_fields[i]!.FieldType);

    /// <summary>Returns null where no value of the field's type can be written.</summary>
    private Slot? TrySlot(int i)
    {
        try
        {
            return Slots.Of(_fields[i]!.FieldType);
        }
        catch (Exception e) when (e is NotWritableException || e.InnerException is NotWritableException)
        {
            return null;
        }
    }
}

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
