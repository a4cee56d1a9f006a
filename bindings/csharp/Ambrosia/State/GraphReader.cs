// Reads what GraphWriter wrote, in two steps: all objects are allocated, then filled; those whose content is hashed or compared come last.
// The image was checked against its checksum before, but sizes are still checked against the bytes that are there.
using System.ComponentModel;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>What generated code reads the fields of an object from. Made by the binding for one image; one thread.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class GraphReader
{
    private readonly Func<InstanceId, ProxyTarget> targetOf;
    private readonly Dictionary<Type, FieldPlan> plans = [];
    private Type? lastPlanned;
    private FieldPlan? lastPlan;

    /// <summary>By their numbers; where this app has no such type any more, a name in the other array.</summary>
    private Type?[] types = [];
    private string?[] missing = [];
    private object[] objects = [];

    /// <param name="isReflective">No generated code is used: for tests, which compare the two.</param>
    internal GraphReader(Func<InstanceId, ProxyTarget> targetOf, bool isReflective = false)
    {
        this.targetOf = targetOf;
        IsReflective = isReflective;
    }

    internal bool IsReflective { get; }

    public T ReadValue<T>(ref CborReader from) => SlotOf<T>.Get().Read(this, ref from);

    public T? ReadReference<T>(ref CborReader from)
        where T : class
    {
        if (from.TryReadNull()) return null;
        object target = ObjectOf(from.ReadUInt64());
        if (target is MissingObject gone) throw Missing(gone.Type);
        return target as T ?? throw new InvalidDataException($"The image refers to a {target.GetType()} where a {typeof(T)} belongs.");
    }

    public string? ReadText(ref CborReader from) => Texts.Read(ref from);

    internal object ObjectOf(ulong id) =>
        id < (ulong)objects.Length ? objects[id] : throw new InvalidDataException($"The image refers to object {id} of {objects.Length}.");

    internal Type TypeOf(ulong id) =>
        id >= (ulong)types.Length ? throw new InvalidDataException($"The image names type {id} of {types.Length}.")
            : types[id] ?? throw Missing(missing[id]!);

    internal FieldPlan PlanOf(Type type)
    {
        if (ReferenceEquals(type, lastPlanned)) return lastPlan!;
        if (!plans.TryGetValue(type, out FieldPlan? plan)) throw new InvalidDataException($"The image does not name the fields of {type}.");
        (lastPlanned, lastPlan) = (type, plan);
        return plan;
    }

    internal ProxyTarget TargetOf(InstanceId id) => targetOf(id);

    internal void ReadAll(ref CborReader from)
    {
        ReadTypes(ref from);
        var shapeOf = new ObjectShape?[types.Length];
        int count = from.ReadArrayHeader() / 2;
        ReadOnlySpan<byte> bodies = from.Remaining;
        int start = from.Position;
        objects = new object[count];
        var shapes = new ObjectShape[count];
        var bodyAt = new int[count];
        for (int i = 0; i < count; i++)
        {
            ulong type = from.ReadUInt64();
            if (type >= (ulong)types.Length) throw new InvalidDataException($"The image names type {type} of {types.Length}.");
            shapes[i] = shapeOf[type] ??= ShapeOf(type);
            bodyAt[i] = from.Position - start;
            from.Skip();
        }
        Allocate(bodies, shapes, bodyAt, late: false);
        Allocate(bodies, shapes, bodyAt, late: true);
        Fill(bodies, shapes, bodyAt, last: false);
        Fill(bodies, shapes, bodyAt, last: true);
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
        types = new Type?[from.ReadArrayHeader()];
        missing = new string?[types.Length];
        for (int i = 0; i < types.Length; i++)
        {
            from.ReadArrayHeader();
            types[i] = TypeNames.Read(ref from, out missing[i]);
            var names = new string[from.ReadArrayHeader()];
            for (int k = 0; k < names.Length; k++) names[k] = from.ReadString();
            if (types[i] is not { } type) continue;
            plans[type] = FieldPlan.Named(type, names);
        }
    }

    private ObjectShape ShapeOf(ulong id) => types[id] is not { } type ? new MissingObject(missing[id]!)
        : ObjectShapes.Of(type) ?? throw new InvalidDataException($"The image holds a {type}, which this version cannot read.");

    internal static InvalidDataException Missing(string type) => new($"The image holds a {type}, which this app does not have.");
}
