using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Says what the body of an object, or a value in place, is made of. The numbers are part of the format (docs/image.md).
/// </summary>
internal enum TypeKind
{
    Class, Struct, Array, Grid, Sequence, Map, Box, Enum, Opaque, Delegate, Proxy, SuspendedMethod, Other,
}

/// <summary>
/// A row of the table of types of an image: the name of a type, its kind, and what it is made of. With it an image can be read by whoever
/// does not have the type. It follows from the declaration alone, so replicas of one build write the same rows.
/// </summary>
internal sealed class TypeRow(Type type)
{
    private TypeKind _kind;
    private string[] _members = [];

    /// <summary>Finds out what the type is made of, which may mention other types.</summary>
    internal void Describe(GraphWriter graph)
    {
        (_kind, _members) = type.IsEnum ? (TypeKind.Enum, [Slots.Of(Enum.GetUnderlyingType(type)).Describe(graph)])
            : type.IsValueType ? OfValue(graph)
            : ObjectShapes.Of(type) is { } shape ? (shape.Kind, shape.Members(graph))
            : (TypeKind.Other, []); // the class of a delegate's method, of which there need not be objects
    }

    internal void Write(ref CborWriter to, StateMigration? moving)
    {
        to.WriteArrayHeader(3);
        TypeNames.Write(ref to, type, moving);
        to.WriteUInt64((ulong)_kind);
        if (_kind == TypeKind.Enum)
        {
            WriteEnum(ref to);
            return;
        }
        to.WriteArrayHeader(_members.Length);
        foreach (string member in _members) to.WriteString(member);
    }

    private (TypeKind, string[]) OfValue(GraphWriter graph)
    {
        if (StateSerializers.Of(type) is not null) return (TypeKind.Opaque, []);
        Slot slot;
        try
        {
            slot = Slots.Of(type);
        }
        catch (NotWritableException)
        {
            return (TypeKind.Other, []); // an argument of a generic type
        }
        if (!slot.IsOfFields) return (TypeKind.Box, [slot.Describe(graph)]);
        var plan = FieldPlan.Of(type);
        return (plan.IsSuspendedMethod ? TypeKind.SuspendedMethod : TypeKind.Struct, plan.Describe(graph));
    }

    /// <summary>Writes the slot of an enum's number, then its names with their numbers in the order of the numbers.</summary>
    private void WriteEnum(ref CborWriter to)
    {
        string[] names = Enum.GetNames(type);
        Array numbers = Enum.GetValuesAsUnderlyingType(type);
        to.WriteArrayHeader(1 + 2 * names.Length);
        to.WriteString(_members[0]);
        for (int i = 0; i < names.Length; i++)
        {
            to.WriteString(names[i]);
            object number = numbers.GetValue(i)!;
            if (number is ulong large) to.WriteUInt64(large);
            else to.WriteInt64(Convert.ToInt64(number, System.Globalization.CultureInfo.InvariantCulture));
        }
    }
}
