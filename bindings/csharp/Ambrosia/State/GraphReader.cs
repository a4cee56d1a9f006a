using System.ComponentModel;
using Ambrosia.Protocol;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// Gives generated code the fields of the objects in an image to read. The binding makes one for each image, used by one thread.
/// </summary>
/// <remarks>
/// It reads what <see cref="GraphWriter"/> wrote in two steps: all objects are allocated, and then they are filled. Those whose content is
/// hashed or compared come last. The image was checked against its checksum before, but sizes are still checked against the bytes that are
/// there.
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class GraphReader
{
    private readonly AttachProxy _attach;
    private Type? _lastPlanned;
    private FieldPlan? _lastPlan;
    private object[] _objects = [];

    /// <param name="isReflective">No generated code is used: for tests, which compare the two.</param>
    internal GraphReader(AttachProxy attach, bool isReflective = false)
    {
        _attach = attach;
        IsReflective = isReflective;
    }

    internal bool IsReflective { get; }

    /// <summary>The image's table of types.</summary>
    internal ImageTypes Types { get; private set; } = ImageTypes.None;

    /// <summary>Reads the value of a field.</summary>
    public T ReadValue<T>(ref CborReader from) => SlotOf<T>.Get().Read(this, ref from);

    /// <summary>Reads a field that refers to an object, or null.</summary>
    /// <exception cref="InvalidDataException">The object is not a <typeparamref name="T"/>, or this app has no such class.</exception>
    public T? ReadReference<T>(ref CborReader from)
        where T : class
    {
        if (from.TryReadNull()) return null;
        object target = ObjectOf(from.ReadUInt64());
        if (target is MissingObject gone) throw Missing(gone.Type);
        return target as T ?? throw new InvalidDataException($"The image refers to a {target.GetType()} where a {typeof(T)} belongs.");
    }

    /// <summary>Reads a text, or null.</summary>
    public string? ReadText(ref CborReader from) => Texts.Read(ref from);

    internal object ObjectOf(ulong id) =>
        id < (ulong)_objects.Length ? _objects[id] : throw new InvalidDataException($"The image refers to object {id} of {_objects.Length}.");

    internal Type TypeOf(ulong id) => Types[id] is { Type: { } type } ? type : throw Missing(Types[id].Missing!);

    /// <summary>Returns how the fields of a type stand in this image.</summary>
    internal FieldPlan PlanOf(Type type)
    {
        if (ReferenceEquals(type, _lastPlanned)) return _lastPlan!;
        FieldPlan plan = Types.Of(type)?.Plan ?? throw new InvalidDataException($"The image does not name the fields of {type}.");
        (_lastPlanned, _lastPlan) = (type, plan);
        return plan;
    }

    /// <summary>Lets a proxy of the graph speak to an instance by the session that reads the graph.</summary>
    internal void Attach(object proxy, InstanceId instance) => _attach(proxy, instance);

    /// <summary>Reads the table of types and all objects of the graph.</summary>
    internal void ReadAll(ref CborReader from)
    {
        Types = ImageTypes.Read(ref from);
        var shapeOf = new ObjectShape?[Types.Count];
        int count = from.ReadArrayHeader() / 2;
        ReadOnlySpan<byte> bodies = from.Remaining;
        int start = from.Position;
        _objects = new object[count];
        var shapes = new ObjectShape[count];
        var bodyAt = new int[count];
        for (int i = 0; i < count; i++)
        {
            ulong type = from.ReadUInt64();
            ImageType row = Types[type];
            shapes[i] = shapeOf[type] ??= ShapeOf(row);
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
            _objects[i] = shapes[i].Allocate(this, ref body);
        }
    }

    private void Fill(ReadOnlySpan<byte> bodies, ObjectShape[] shapes, int[] bodyAt, bool last)
    {
        for (int i = 0; i < shapes.Length; i++)
        {
            if (shapes[i].IsFilledLast != last) continue;
            var body = new CborReader(bodies[bodyAt[i]..]);
            shapes[i].Fill(this, ref body, _objects[i]);
        }
    }

    private static ObjectShape ShapeOf(ImageType row) => row.Type is not { } type ? new MissingObject(row.Missing!)
        : ObjectShapes.Of(type) ?? throw new InvalidDataException($"The image holds a {type}, which this version cannot read.");

    internal static InvalidDataException Missing(string type) => new($"The image holds a {type}, which this app does not have.");
}

/// <summary>Gives a proxy that was read the session by which it speaks, and the instance to which it does.</summary>
internal delegate void AttachProxy(object proxy, InstanceId instance);
