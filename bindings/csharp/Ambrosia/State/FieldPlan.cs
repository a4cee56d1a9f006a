using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// The fields of a type in the order of an image and how they are written: by generated code, or, of what the compiler made and of what
/// generated code cannot name, one by one through reflection. Made for this build by <see cref="Of"/>; for reading an image also from the
/// names that the image holds: fields that this build no longer has are skipped, new ones keep their default. Of what the compiler made of
/// a method every field must be there.
/// </summary>
internal sealed class FieldPlan
{
    private const int Skipped = -1;
    private static readonly ConcurrentDictionary<Type, FieldPlan> s_byType = new();
    private readonly Type type;
    private readonly FieldInfo?[] fields;
    private readonly Slot?[] slots;

    /// <summary>
    /// Null: there is no generated code. It numbers the fields in the order of this build; these are the numbers in the order of the image.
    /// </summary>
    private readonly StateCodec? codec;
    private readonly int[] places;

    /// <summary>Of a suspended method: where it is. Null: it is none.</summary>
    private readonly FieldInfo? state;

    /// <summary>Of a suspended method: which locals may be the remainder of a loop.</summary>
    private readonly bool[] mayBeDead;

    private FieldPlan(Type type, FieldInfo?[] fields, int[] places)
    {
        this.type = type;
        this.fields = fields;
        this.places = places;
        codec = StateCodecs.Of(type);
        if (typeof(IAsyncStateMachine).IsAssignableFrom(type)) state = Array.Find(fields, static field => field?.Name == "<>1__state");
        mayBeDead = Array.ConvertAll(fields, field => state is not null && field is not null && DeadLocal.CanBe(field.FieldType));
        slots = new Slot?[fields.Length];
    }

    internal static FieldPlan Of(Type type) => s_byType.GetOrAdd(type, static type =>
    {
        FieldInfo[] fields = StateFields.Of(type);
        return new FieldPlan(type, fields, [.. Enumerable.Range(0, fields.Length)]);
    });

    /// <summary>For an image that names the fields so.</summary>
    internal static FieldPlan Named(Type type, string[] names)
    {
        FieldPlan now = Of(type);
        string[] own = StateFields.NamesOf(type);
        if (names.AsSpan().SequenceEqual(own)) return now;
        if (GeneratedNames.IsGenerated(type.Name)) throw new InvalidDataException($"The image holds a {type} with other fields.");
        int[] places = Array.ConvertAll(names,
            name => Array.IndexOf(own, name) is >= 0 and { } place ? place : StateFields.FormerlyNamed(type, name) ?? Skipped);
        return new FieldPlan(type, Array.ConvertAll(places, place => place == Skipped ? null : now.fields[place]), places);
    }

    /// <summary>Null: by reflection.</summary>
    internal StateCodec? Codec => codec;

    internal void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        to.WriteArrayHeader(fields.Length);
        if (codec is not null && !graph.IsReflective) codec.WriteBoxed(graph, ref to, instance);
        else WriteByReflection(graph, ref to, instance);
    }

    internal void Read(GraphReader graph, ref CborReader from, object instance)
    {
        ReadHead(ref from);
        if (codec is not null && !graph.IsReflective) codec.ReadBoxed(graph, ref from, places, instance);
        else ReadByReflection(graph, ref from, instance);
    }

    /// <summary>The same without a box, where there is generated code.</summary>
    internal bool TryWrite<T>(GraphWriter graph, ref CborWriter to, T value)
    {
        if (graph.IsReflective || codec is not StateCodec<T> typed) return false;
        to.WriteArrayHeader(fields.Length);
        typed.Write(graph, ref to, value);
        return true;
    }

    /// <inheritdoc cref="TryWrite"/>
    internal bool TryRead<T>(GraphReader graph, ref CborReader from, ref T value)
    {
        if (graph.IsReflective || codec is not StateCodec<T> typed) return false;
        ReadHead(ref from);
        typed.Read(graph, ref from, places, ref value);
        return true;
    }

    private void ReadHead(ref CborReader from)
    {
        int count = from.ReadArrayHeader();
        if (count != fields.Length)
            throw new InvalidDataException($"The image holds a {type} of {count} fields where {fields.Length} are named.");
    }

    private void WriteByReflection(GraphWriter graph, ref CborWriter to, object instance)
    {
        if (state is not null) graph.Suspended(type, (int)state.GetValue(instance)!);
        for (int i = 0; i < fields.Length; i++)
        {
            FieldInfo field = fields[i]!;
            graph.At(field);
            if (mayBeDead[i] && DeadLocal.Is(field, instance)) to.WriteNull();
            else SlotAt(i, graph).WriteBoxed(graph, ref to, field.GetValue(instance));
        }
    }

    private void ReadByReflection(GraphReader graph, ref CborReader from, object instance)
    {
        for (int i = 0; i < fields.Length; i++)
        {
            if (state is not null && from.TryReadNull()) continue; // null, zero or dead: the box is zeroed
            if (fields[i] is { } field) field.SetValue(instance, (slots[i] ??= Slots.Of(field.FieldType)).ReadBoxed(graph, ref from));
            else from.Skip();
        }
    }

    private Slot SlotAt(int i, GraphWriter graph)
    {
        if (slots[i] is { } known) return known;
        try
        {
            return slots[i] = Slots.Of(fields[i]!.FieldType);
        }
        catch (NotWritableException)
        {
            throw graph.CannotWrite(fields[i]!.FieldType);
        }
    }
}
