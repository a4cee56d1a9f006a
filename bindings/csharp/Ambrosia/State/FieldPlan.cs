using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// The fields of a type in the order of an image and how each is written. Made for this build by <see cref="Of"/>; for reading an image
/// also from the names that the image holds: fields that this build no longer has are skipped, new ones keep their default. Of what the compiler
/// made of a method every field must be there.
/// </summary>
internal sealed class FieldPlan
{
    private static readonly ConcurrentDictionary<Type, FieldPlan> s_byType = new();
    private readonly Type type;
    private readonly FieldInfo?[] fields;
    private readonly Slot?[] slots;

    /// <summary>Of a suspended method: where it is. Null: it is none.</summary>
    private readonly FieldInfo? state;

    /// <summary>Of a suspended method: which locals may be the remainder of a loop.</summary>
    private readonly bool[] mayBeDead;

    private FieldPlan(Type type, FieldInfo?[] fields)
    {
        this.type = type;
        this.fields = fields;
        if (typeof(IAsyncStateMachine).IsAssignableFrom(type)) state = Array.Find(fields, static field => field?.Name == "<>1__state");
        mayBeDead = Array.ConvertAll(fields, field => state is not null && field is not null && DeadLocal.CanBe(field.FieldType));
        slots = new Slot?[fields.Length];
    }

    internal static FieldPlan Of(Type type) => s_byType.GetOrAdd(type, static type => new FieldPlan(type, StateFields.Of(type)));

    internal static FieldPlan Named(Type type, string[] names)
    {
        Dictionary<string, FieldInfo> now = StateFields.Of(type).ToDictionary(field => StateFields.NameOf(field, type));
        if (GeneratedNames.IsGenerated(type.Name) && !names.SequenceEqual(now.Keys)) throw new InvalidDataException($"The image holds a {type} with other fields.");
        return new FieldPlan(type, Array.ConvertAll(names, now.GetValueOrDefault));
    }

    internal IEnumerable<string> Names => fields.Select(each => StateFields.NameOf(each!, type));

    internal void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        to.WriteArrayHeader(fields.Length);
        if (state is not null) graph.Suspended(type, (int)state.GetValue(instance)!);
        for (int i = 0; i < fields.Length; i++)
        {
            FieldInfo field = fields[i]!;
            graph.At(field);
            if (mayBeDead[i] && DeadLocal.Is(field, instance)) to.WriteNull();
            else SlotAt(i, graph).WriteBoxed(graph, ref to, field.GetValue(instance));
        }
    }

    internal void Read(GraphReader graph, ref CborReader from, object instance)
    {
        int count = from.ReadArrayHeader();
        if (count != fields.Length) throw new InvalidDataException($"The image holds a {type} of {count} fields where {fields.Length} are named.");
        for (int i = 0; i < count; i++)
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
