// Reads what GraphWriter wrote, in two steps: all objects are allocated, then filled; those whose content is hashed or compared come last.
// The image was checked against its checksum before, but sizes are still checked against the bytes that are there.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class GraphReader(Func<InstanceId, ProxyTarget> targetOf)
{
    private readonly Dictionary<Type, FieldPlan> plans = [];
    private Type[] types = [];
    private object[] objects = [];

    internal object ObjectOf(ulong id) =>
        id < (ulong)objects.Length ? objects[id] : throw new InvalidDataException($"The image refers to object {id} of {objects.Length}.");

    internal Type TypeOf(ulong id) =>
        id < (ulong)types.Length ? types[id] : throw new InvalidDataException($"The image names type {id} of {types.Length}.");

    internal FieldPlan PlanOf(Type type) =>
        plans.TryGetValue(type, out FieldPlan? plan) ? plan : throw new InvalidDataException($"The image does not name the fields of {type}.");

    internal ProxyTarget TargetOf(InstanceId id) => targetOf(id);

    internal void ReadAll(ref CborReader from)
    {
        ReadTypes(ref from);
        int count = from.ReadArrayHeader() / 2;
        ReadOnlySpan<byte> bodies = from.Remaining;
        objects = new object[count];
        var shapes = new ObjectShape[count];
        var bodyAt = new int[count];
        var at = new CborReader(bodies);
        for (int i = 0; i < count; i++)
        {
            shapes[i] = ShapeOf(at.ReadUInt64());
            bodyAt[i] = at.Position;
            at.Skip();
        }
        Allocate(bodies, shapes, bodyAt, late: false);
        Allocate(bodies, shapes, bodyAt, late: true);
        Fill(bodies, shapes, bodyAt, last: false);
        Fill(bodies, shapes, bodyAt, last: true);
        for (int i = 0, items = 2 * count; i < items; i++) from.Skip();
    }

    private void Allocate(ReadOnlySpan<byte> bodies, ObjectShape[] shapes, int[] bodyAt, bool late)
    {
        for (int i = 0; i < shapes.Length; i++)
        {
            if (shapes[i].IsMadeLate != late) continue;
            var body = new CborReader(bodies[bodyAt[i]..]);
            objects[i] = shapes[i].Allocate(this, ref body);
        }
    }

    private void Fill(ReadOnlySpan<byte> bodies, ObjectShape[] shapes, int[] bodyAt, bool last)
    {
        for (int i = 0; i < shapes.Length; i++)
        {
            if (shapes[i].IsFilledLast != last) continue;
            var body = new CborReader(bodies[bodyAt[i]..]);
            shapes[i].Fill(this, ref body, objects[i]);
        }
    }

    private void ReadTypes(ref CborReader from)
    {
        types = new Type[from.ReadArrayHeader()];
        for (int i = 0; i < types.Length; i++)
        {
            from.ReadArrayHeader();
            types[i] = TypeNames.Read(ref from);
            var names = new string[from.ReadArrayHeader()];
            for (int k = 0; k < names.Length; k++) names[k] = from.ReadString();
            plans[types[i]] = FieldPlan.Named(types[i], names);
        }
    }

    private ObjectShape ShapeOf(ulong type) =>
        ObjectShapes.Of(TypeOf(type)) ?? throw new InvalidDataException($"The image holds a {TypeOf(type)}, which this version cannot read.");
}
