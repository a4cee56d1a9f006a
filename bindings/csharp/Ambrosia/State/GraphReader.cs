using System.ComponentModel;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
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
    private readonly int _windowBytes;

    /// <summary>The place in the bytes while a graph is read; null before and behind it.</summary>
    private GraphPlace? _place;

    /// <param name="isReflective">No generated code is used: for tests, which compare the two.</param>
    /// <param name="windowBytes">The bytes after which a reader is begun anew.</param>
    internal GraphReader(AttachProxy attach, bool isReflective = false, int windowBytes = GraphPlace.WindowBytesDefault)
    {
        _windowBytes = windowBytes;
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

    /// <summary>Reads the table of types and all objects of a graph that stands in an image from a place to its end.</summary>
    internal void ReadAll(LargeBuffer image, long at)
    {
        _place = new GraphPlace(image, _windowBytes);
        CborReader from = _place.Begin(at);
        ReadAll(ref from);
        _place = null;
    }

    /// <summary>Reads the table of types and all objects of a graph that is a part of a value.</summary>
    internal void ReadAllOf(ref CborReader value)
    {
        using var copy = new LargeBuffer();
        copy.Append(value.Remaining);
        _place = new GraphPlace(copy, _windowBytes);
        CborReader from = _place.Begin(0);
        ReadAll(ref from);
        value = new CborReader(value.Remaining[(int)_place.PositionOf(from)..]);
        _place = null;
    }

    /// <summary>
    /// Begins the reader anew where it stands if it has come far from where it began: a span ends at 2 GiB, an image and its larger
    /// collections do not.
    /// </summary>
    internal void MoveOn(ref CborReader from) => _place?.MoveOn(ref from);

    /// <summary>Reads the head of a byte string of any length; the content follows.</summary>
    internal long ReadBytesLength(ref CborReader from) => Place.ReadBytesLength(ref from);

    /// <summary>Reads the next stretch of the content of a byte string.</summary>
    internal ReadOnlySpan<byte> ReadContent(scoped ref CborReader from, int bytes) => Place.ReadContent(ref from, bytes);

    private GraphPlace Place => _place ?? throw new InvalidOperationException("No graph is being read.");

    private void ReadAll(ref CborReader from)
    {
        Types = ImageTypes.Read(ref from);
        var shapeOf = new ObjectShape?[Types.Count];
        int count = from.ReadArrayHeader() / 2;
        _objects = new object[count];
        var shapes = new ObjectShape[count];
        var bodyAt = new long[count];
        for (int i = 0; i < count; i++)
        {
            Place.MoveOn(ref from);
            ulong type = from.ReadUInt64();
            ImageType row = Types[type];
            shapes[i] = shapeOf[type] ??= ShapeOf(row);
            bodyAt[i] = Place.PositionOf(from);
            Place.Skip(ref from);
        }
        long end = Place.PositionOf(from);
        Allocate(shapes, bodyAt, late: false);
        Allocate(shapes, bodyAt, late: true);
        Fill(shapes, bodyAt, last: false);
        Fill(shapes, bodyAt, last: true);
        from = Place.Begin(end);
    }

    private void Allocate(ObjectShape[] shapes, long[] bodyAt, bool late)
    {
        for (int i = 0; i < shapes.Length; i++)
        {
            if (shapes[i].IsMadeLate != late) continue;
            CborReader body = Place.Begin(bodyAt[i]);
            _objects[i] = shapes[i].Allocate(this, ref body);
        }
    }

    private void Fill(ObjectShape[] shapes, long[] bodyAt, bool last)
    {
        for (int i = 0; i < shapes.Length; i++)
        {
            if (shapes[i].IsFilledLast != last) continue;
            CborReader body = Place.Begin(bodyAt[i]);
            shapes[i].Fill(this, ref body, _objects[i]);
        }
    }

    private static ObjectShape ShapeOf(ImageType row) => row.Type is not { } type ? new MissingObject(row.Missing!)
        : ObjectShapes.Of(type) ?? throw new InvalidDataException($"The image holds a {type}, which this version cannot read.");

    internal static InvalidDataException Missing(string type) => new($"The image holds a {type}, which this app does not have.");
}

/// <summary>Gives a proxy that was read the session by which it speaks, and the instance to which it does.</summary>
internal delegate void AttachProxy(object proxy, InstanceId instance);
